import { useNavigate } from '@tanstack/react-router'
import type { GitRef } from '@trellis/contract'
import { useEffect, useState } from 'react'
import { useList } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { Tag } from '../../ui/Status.tsx'
import { Tabs } from '../../ui/Tabs.tsx'
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
/** More are found by writing. */
const MOST_SHOWN = 100

function Choices({ to, at, onDone }: RefPickerProps & { onDone: () => void }) {
  const { org, name, repo } = useRepo()
  const [kind, setKind] = useState<'branches' | 'tags'>(at.type === 'tag' ? 'tags' : 'branches')
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const list = useList(org, (api) => api.git[kind].list, { name, limit: 100 })
  const found = list.items.filter((ref) => ref.name.toLowerCase().includes(text.trim().toLowerCase()))
  // What is looked for may be further on.
  const readsOn = text !== '' && found.length < 20 && list.hasMore && !list.isReading
  useEffect(() => {
    if (readsOn) list.readMore()
  }, [readsOn, list.readMore])

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
      items={found.slice(0, MOST_SHOWN)}
      keyOf={(ref) => ref.name}
      onChoose={choose}
      between={
        <div className={styles.kinds}>
          <Tabs label="Branches or tags" value={kind} options={KINDS} onChoose={setKind} />
        </div>
      }
      note={noteOn({ found: found.length, thing, isReading: list.isPending || readsOn || list.isReading })}
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

function noteOn({ found, thing, isReading }: { found: number; thing: string; isReading: boolean }) {
  if (isReading) return 'Looking…'
  if (found === 0) return `There is no such ${thing}.`
  return found > MOST_SHOWN
    ? `${found - MOST_SHOWN} or more are not shown: write what they are called.`
    : undefined
}
