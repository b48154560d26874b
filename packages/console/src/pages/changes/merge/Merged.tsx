import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { query, useAction } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Button } from '../../../ui/Button.tsx'
import { Oid } from '../../../ui/Code.tsx'
import { ActionProblem } from '../../../ui/Problem.tsx'
import { Status } from '../../../ui/Status.tsx'
import styles from './Merge.module.css'
import type { MergeResult } from './MergePanel.tsx'

/** After a merge: where it led, and what is not needed any more. */
export function Merged({ result, from }: { result: MergeResult; from: string }) {
  const { org, name, repo, api } = useRepo()
  const compared = useQuery(query(org, (api) => api.git.branches.compare, { name, branches: [from] }))
  const branch = compared.data?.items[0]
  const remove = useAction(
    () => api.git.branches.delete({ name, branch: from, ...(branch && { expectedOid: branch.oid }) }),
    { done: `Deleted ${from}`, changes: { org, paths: ['git/branches/', 'repos/'] } },
  )
  return (
    <section className={styles.panel} aria-label="Merge">
      <div className={styles.state}>
        <Status kind="succeeded">{`Merged ${from} into ${result.branch}`}</Status>
        <p className={styles.distance}>
          {`${result.branch} is now at `}
          <Link to="/o/$org/$repo/commit/$oid" params={{ org, repo: name, oid: result.oid }}>
            <Oid>{result.oid}</Oid>
          </Link>
          {remove.result ? `, and ${from} is deleted.` : '.'}
        </p>
      </div>
      {branch && from !== repo.defaultBranch && !remove.result && (
        <Button kind="danger" icon="branch" busy={remove.busy} onClick={() => remove.run(undefined)}>
          {`Delete branch ${from}`}
        </Button>
      )}
      <ActionProblem of={remove} />
    </section>
  )
}
