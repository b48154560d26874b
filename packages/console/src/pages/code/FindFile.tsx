import { Dialog as Base } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { useShortcut } from '../../keys/shortcuts.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { counted } from '../../ui/counted.ts'
import frame from '../../ui/Dialog.module.css'
import { Icon } from '../../ui/Icon.tsx'
import { Kbd } from '../../ui/Kbd.tsx'
import { addressOf } from './addresses.ts'
import styles from './FindFile.module.css'
import { FindList } from './FindList.tsx'
import { filesQuery, useCodeSources } from './palette.ts'

interface FindFileProps {
  at: { org: string; name: string; ref: string; commit: string }
}

/** `t`, or the button: any file of the commit by a part of its name. The palette finds them too. */
export function FindFile({ at }: FindFileProps) {
  const [open, setOpen] = useState(false)
  useShortcut('t', 'Find a file', () => setOpen(true))
  useCodeSources(at)
  const navigate = useNavigate()
  useShortcut('/', 'Search the code', () => {
    const params = { org: at.org, repo: at.name }
    void navigate({ to: '/o/$org/$repo/search', params, search: { ref: at.ref } })
  })
  return (
    <>
      <Button icon="file" onClick={() => setOpen(true)}>
        Find file
        <span className={styles.key} aria-hidden="true">
          <Kbd keys="t" />
        </span>
      </Button>
      <LinkButton
        icon="search"
        to="/o/$org/$repo/search"
        params={{ org: at.org, repo: at.name }}
        search={{ ref: at.ref }}
      >
        Search code
        <span className={styles.key} aria-hidden="true">
          <Kbd keys="/" />
        </span>
      </LinkButton>
      {open && (
        <Base.Root open onOpenChange={setOpen}>
          <Base.Portal>
            <Base.Backdrop className={frame.veil} />
            <Base.Popup className={`${frame.dialog} ${styles.finder}`} aria-label="Find a file">
              <Finder at={at} onDone={() => setOpen(false)} />
            </Base.Popup>
          </Base.Portal>
        </Base.Root>
      )}
    </>
  )
}

function Finder({ at, onDone }: FindFileProps & { onDone: () => void }) {
  const [text, setText] = useState('')
  const wanted = useDeferredValue(text.trim())
  const navigate = useNavigate()
  const { data, isPlaceholderData } = useQuery({
    ...filesQuery(at, wanted, 50),
    placeholderData: (before) => before,
  })

  function choose(path: string): void {
    onDone()
    const params = { org: at.org, repo: at.name, _splat: addressOf(at.ref, path) }
    void navigate({ to: '/o/$org/$repo/blob/$', params })
  }

  return (
    <FindList
      label="Find a file"
      text={text}
      onText={setText}
      items={data?.paths ?? []}
      isLate={!data || isPlaceholderData || wanted !== text.trim()}
      keyOf={(path) => path}
      onChoose={choose}
      note={
        <>
          {data && `${noteOn(data)} `}
          <Link to="/o/$org/$repo/search" params={{ org: at.org, repo: at.name }} search={{ ref: at.ref }}>
            Look into the files instead
          </Link>
        </>
      }
    >
      {(path) => (
        <>
          <Icon name="file" />
          <Path path={path} />
        </>
      )}
    </FindList>
  )
}

const Path = ({ path }: { path: string }) => {
  const slash = path.lastIndexOf('/') + 1
  return (
    <span className={styles.path}>
      {path.slice(0, slash)}
      <strong>{path.slice(slash)}</strong>
    </span>
  )
}

function noteOn({ paths, total, truncated }: { paths: string[]; total: number; truncated: boolean }) {
  const all = counted(total, 'file')
  if (paths.length === 0) return `None of ${all} is called like that.`
  return truncated || paths.length < total ? `The best of ${all}.` : ''
}
