import { useQuery } from '@tanstack/react-query'
import type { Commit } from '@trellis/contract'
import { useState } from 'react'
import type { Api } from '../../../api/client.ts'
import { isApiError } from '../../../api/errors.ts'
import { query } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Button } from '../../../ui/Button.tsx'
import { counted } from '../../../ui/counted.ts'
import { Problem } from '../../../ui/Problem.tsx'
import { Status } from '../../../ui/Status.tsx'
import { Conflicts } from './Conflicts.tsx'
import styles from './Merge.module.css'
import { MergeDialog } from './MergeDialog.tsx'
import { Merged } from './Merged.tsx'

export type Preview = Awaited<ReturnType<Api['git']['mergePreview']>>
export type MergeResult = Awaited<ReturnType<Api['git']['merge']>>

interface MergePanelProps {
  base: string
  head: string
  commits: readonly Commit[]
  ahead: number
  behind: number
}

/** Whether one can be merged into the other, and the way to do it. */
export function MergePanel({ base, head, commits, ahead, behind }: MergePanelProps) {
  const { org, name, repo } = useRepo()
  const [isOpen, setOpen] = useState(false)
  const [result, setResult] = useState<MergeResult>()
  const preview = useQuery({
    ...query(org, (api) => api.git.mergePreview, { name, branch: base, from: head }),
    enabled: result === undefined,
    throwOnError: false,
  })
  if (result && result.outcome !== 'conflict') return <Merged result={result} from={head} />
  if (preview.error) return <NoMerge base={base} error={preview.error} />
  const shown = preview.data
  if (!shown) return <div className={styles.panel} data-loading aria-hidden="true" />
  const canMerge = shown.outcome === 'fast-forward' || shown.outcome === 'merged'
  return (
    <section className={styles.panel} aria-label="Merge">
      <div className={styles.state}>
        <Outcome preview={shown} base={base} head={head} />
        <p className={styles.distance}>{distance(head, base, ahead, behind)}</p>
      </div>
      {canMerge && (
        <Button
          kind="first"
          disabled={!repo.canWrite}
          title={repo.canWrite ? undefined : 'You may read this repository, not change it'}
          onClick={() => setOpen(true)}
        >
          Merge…
        </Button>
      )}
      {shown.outcome === 'conflict' && <Conflicts preview={shown} base={base} head={head} />}
      {isOpen && (
        <MergeDialog
          preview={shown}
          base={base}
          head={head}
          commits={commits}
          onClose={() => setOpen(false)}
          onDone={setResult}
        />
      )}
    </section>
  )
}

function distance(head: string, base: string, ahead: number, behind: number): string {
  const apart = `${head} is ${counted(ahead, 'commit')} ahead of ${base}`
  return behind === 0 ? `${apart}.` : `${apart} and ${counted(behind, 'commit')} behind.`
}

function Outcome({ preview, base, head }: { preview: Preview; base: string; head: string }) {
  switch (preview.outcome) {
    case 'up-to-date':
      return <Status kind="active">{`${base} has everything of ${head} already`}</Status>
    case 'fast-forward':
      return <Status kind="succeeded">{`Can be merged: ${base} only has to move forward`}</Status>
    case 'merged':
      return <Status kind="succeeded">Can be merged: nothing conflicts</Status>
    case 'conflict':
      return <Status kind="failed">{conflictWords(preview)}</Status>
    case 'unrelated':
      return <Status kind="off">Cannot be merged: the two share no history</Status>
  }
}

const conflictWords = ({ conflicts, conflictsTruncated }: Preview): string =>
  `Cannot be merged as it is: ${conflictsTruncated ? 'more than ' : ''}${conflicts.length} ${
    conflicts.length === 1 ? 'file conflicts' : 'files conflict'
  }`

/** Only branches are merged into. */
function NoMerge({ base, error }: { base: string; error: Error }) {
  if (!isApiError(error) || error.status >= 500 || error.status === 0) return <Problem error={error} />
  return (
    <section className={styles.panel} aria-label="Merge">
      <p className={styles.distance}>{`${base} is no branch, so nothing can be merged into it.`}</p>
    </section>
  )
}
