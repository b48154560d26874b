import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useShortcuts } from '../../../keys/shortcuts.ts'
import { counted } from '../../../ui/counted.ts'
import { Checkbox } from '../../../ui/Field.tsx'
import { Pager } from '../../../ui/Pager.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { Tabs } from '../../../ui/Tabs.tsx'
import { Counts } from './Counts.tsx'
import styles from './Diff.module.css'
import { FileDiff } from './FileDiff.tsx'
import { FileTree } from './FileTree.tsx'
import { useNear } from './near.ts'
import { chooseReading, useReading } from './options.ts'
import { usePointed } from './places.ts'
import { type Ends, useDiff } from './use-diff.ts'

const VIEWS = [
  { value: 'split', label: 'Split' },
  { value: 'unified', label: 'Unified' },
] as const

/** Everything that differs: the files, and beside them their tree. */
export function DiffView({ ends }: { ends: Ends }) {
  const diff = useDiff(ends)
  const pointed = usePointed()
  const { files, total } = diff
  useFileKeys()
  // What an address points at may be in a file further on.
  const isSought = pointed !== undefined && !files.some(({ path }) => path === pointed.path)
  const readsOn = isSought && diff.hasMore && !diff.isReading
  useEffect(() => {
    if (readsOn) diff.readMore()
  }, [readsOn, diff.readMore])
  const isThere = pointed !== undefined && !isSought
  const fileSought = pointed?.lines ? undefined : pointed?.path
  useEffect(() => {
    if (isThere && fileSought) document.getElementById(fileSought)?.scrollIntoView()
  }, [isThere, fileSought])

  if (diff.isPending) return <Skeleton rows={12} />
  return (
    <section className={styles.diff} aria-label="Changes">
      <Toolbar ends={ends} files={total.files} additions={total.additions} deletions={total.deletions} />
      {files.length === 0 ? (
        <p className={styles.note}>
          {ends.ignoreWhitespace ? 'Nothing but white space differs.' : 'Nothing differs.'}
        </p>
      ) : (
        <div className={styles.columns}>
          <FileTree files={files} total={total.files} current={pointed?.path} />
          <div className={styles.files}>
            {files.map((file) => (
              <FileDiff
                key={file.path}
                file={file}
                ends={ends}
                commits={diff}
                pointed={pointed?.path === file.path ? pointed.lines : undefined}
              />
            ))}
            <ReadOn {...diff} />
            {diff.isTruncated && !diff.hasMore && (
              <p className={styles.note}>
                More files differ than can be listed. Clone the repository to see all.
              </p>
            )}
          </div>
        </div>
      )}
    </section>
  )
}

function Toolbar({
  ends,
  files,
  additions,
  deletions,
}: {
  ends: Ends
  files: number
  additions: number
  deletions: number
}) {
  const { view, wrap, isNarrow } = useReading()
  const navigate = useNavigate()
  return (
    <div className={styles.toolbar}>
      <h2 className={styles.sum}>
        {counted(files, 'file')}
        <Counts additions={additions} deletions={deletions} />
      </h2>
      <Checkbox
        label="Ignore white space"
        checked={ends.ignoreWhitespace}
        onChange={({ target }) =>
          void navigate({
            to: '.',
            search: ((search: object) => ({ ...search, w: target.checked || undefined })) as never,
            hash: true,
            resetScroll: false,
          })
        }
      />
      <Checkbox
        label="Wrap"
        checked={wrap}
        onChange={({ target }) => chooseReading({ wrap: target.checked })}
      />
      {!isNarrow && (
        <Tabs label="View" value={view} options={VIEWS} onChoose={(view) => chooseReading({ view })} />
      )}
    </div>
  )
}

/** Reads on when its end comes near. */
function ReadOn(diff: { hasMore: boolean; isReading: boolean; readMore: () => unknown }) {
  const end = useRef<HTMLDivElement>(null)
  const { isNear } = useNear(end)
  const { hasMore, isReading, readMore } = diff
  useEffect(() => {
    if (isNear && hasMore && !isReading) readMore()
  }, [isNear, hasMore, isReading, readMore])
  return (
    <div ref={end}>
      <Pager hasMore={hasMore} isReading={isReading} readMore={() => void readMore()} />
    </div>
  )
}

/** From file to file. */
function useFileKeys(): void {
  const go = (step: 1 | -1) => {
    const all = [...document.querySelectorAll('[data-file]')]
    const tops = all.map((element) => Math.round(element.getBoundingClientRect().top))
    const at = step === 1 ? tops.findIndex((top) => top > 8) : tops.findLastIndex((top) => top < -8)
    all[at]?.scrollIntoView()
  }
  useShortcuts([
    { keys: 'j', does: 'Next file', run: () => go(1) },
    { keys: 'k', does: 'Previous file', run: () => go(-1) },
  ])
}
