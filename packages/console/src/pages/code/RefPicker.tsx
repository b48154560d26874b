import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { GitRef } from '@trellis/contract'
import { useState } from 'react'
import { query } from '../../api/queries.ts'
import { useSettled } from '../../api/settled.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { Tag } from '../../ui/Status.tsx'
import { Tabs } from '../../ui/Tabs.tsx'
import { refsQuery } from '../changes/find-refs.ts'
import { addressOf, refInWords } from './addresses.ts'
import { FindList } from './FindList.tsx'
import type { CodePlace } from './place.ts'
import styles from './RefPicker.module.css'

interface RefPickerProps {
  /** The page that shows it, and where on it one is. */
  to: CodePlace
  at: { ref: string; type: string; path: string }
}

/** The branch, tag or commit that is looked at, and a way to others at the same path. */
export function RefPicker({ to, at }: RefPickerProps) {
  const [open, setOpen] = useState(false)
  return (
    <Popover
      label="Choose a branch or tag"
      open={open}
      onOpen={setOpen}
      trigger={
        <Button icon={at.type === 'tag' ? 'tag' : at.type === 'commit' ? 'commit' : 'branch'}>
          <span className={styles.name}>{refInWords(at)}</span>
          <Icon name="down" />
        </Button>
      }
    >
      <Choices to={to} at={at} onDone={() => setOpen(false)} />
    </Popover>
  )
}

const KINDS = [
  { value: 'branches', label: 'Branches' },
  { value: 'tags', label: 'Tags' },
] as const
type Kind = (typeof KINDS)[number]['value']

/** More are found by writing. */
const MOST_SHOWN = 100

function Choices({ to, at, onDone }: RefPickerProps & { onDone: () => void }) {
  const { org, name, repo } = useRepo()
  const [kind, setKind] = useState<Kind>(at.type === 'tag' ? 'tags' : 'branches')
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const { items, hasMore, isLate } = useRefs(kind, text.trim())

  function choose(ref: GitRef): void {
    onDone()
    void navigate({ to, params: { org, repo: name, _splat: addressOf(ref.name, at.path) } })
  }

  const thing = kind === 'branches' ? 'branch' : 'tag'
  return (
    <FindList
      label={`Find a ${thing}`}
      text={text}
      onText={setText}
      items={items}
      isLate={isLate}
      keyOf={(ref) => ref.name}
      onChoose={choose}
      between={
        <div className={styles.kinds}>
          <Tabs label="Branches or tags" value={kind} options={KINDS} onChoose={setKind} />
        </div>
      }
      note={noteOn({ found: items.length, thing, hasMore, isLate })}
    >
      {(ref) => (
        <>
          <span className={styles.mark}>{ref.name === at.ref && <Icon name="check" />}</span>
          {ref.name}
          {kind === 'branches' && ref.name === repo.defaultBranch && <Tag>default</Tag>}
        </>
      )}
    </FindList>
  )
}

/** The first of a kind, or of all there are those that are called so. */
function useRefs(kind: Kind, text: string) {
  const { org, name } = useRepo()
  const wanted = useSettled(text)
  const isSearch = wanted !== ''
  const first = useQuery({
    ...query(org, (api) => api.git[kind].list, { name, limit: MOST_SHOWN }),
    enabled: !isSearch,
  })
  const type = kind === 'branches' ? 'branch' : 'tag'
  const found = useQuery({
    ...refsQuery({ org, name, text: wanted, type, limit: MOST_SHOWN }),
    enabled: isSearch,
    // What was found stays while more is looked for, unless it is of the other kind.
    placeholderData: (before) => (before?.items.some((ref) => ref.type !== type) ? undefined : before),
  })
  const isLate = wanted !== text || (isSearch ? found.isPending || found.isPlaceholderData : first.isPending)
  return isSearch
    ? { items: found.data?.items ?? [], hasMore: found.data?.truncated === true, isLate }
    : { items: first.data?.items ?? [], hasMore: first.data?.hasMore === true, isLate }
}

interface Noted {
  found: number
  thing: string
  hasMore: boolean
  isLate: boolean
}

function noteOn({ found, thing, hasMore, isLate }: Noted) {
  if (found === 0) return isLate ? 'Looking…' : `There is no such ${thing}.`
  return hasMore ? `There are more: write what the ${thing} is called.` : undefined
}
