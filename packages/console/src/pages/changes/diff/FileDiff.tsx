import { useQuery } from '@tanstack/react-query'
import { memo, useRef, useState } from 'react'
import { Button, LinkButton } from '../../../ui/Button.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Problem } from '../../../ui/Problem.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { Tag } from '../../../ui/Status.tsx'
import { addressOf } from '../../code/addresses.ts'
import { Counts } from './Counts.tsx'
import styles from './Diff.module.css'
import { FileText } from './FileText.tsx'
import { ImageDiff, isImage } from './ImageDiff.tsx'
import { useNear } from './near.ts'
import { CONTEXT } from './patch.ts'
import { hrefOf, type LineRange } from './places.ts'
import { type Ends, type FileChange, fileQuery } from './use-diff.ts'

interface FileDiffProps {
  file: FileChange
  ends: Ends
  /** The commits that are really compared. */
  commits: { base: string | null; head: string }
  pointed: LineRange | undefined
}

/** A file that changed: what happened to it, and its lines. */
export const FileDiff = memo(function FileDiff({ file, ends, commits, pointed }: FileDiffProps) {
  const [isOpen, setOpen] = useState(true)
  const { path, previousPath, status } = file
  const name = previousPath ? `${previousPath} → ${path}` : path
  return (
    <section className={styles.file} id={path} aria-label={path} data-file={path}>
      <header className={styles.fileHead}>
        <Button
          kind="quiet"
          small
          icon={isOpen ? 'down' : 'open'}
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${path}`}
          onClick={() => setOpen(!isOpen)}
        />
        <h3 className={styles.path}>
          <a href={hrefOf(path)}>{name}</a>
        </h3>
        <span className={styles.copy}>
          <CopyButton text={path} label="Copy the path" bare />
        </span>
        {status !== 'modified' && <Tag>{status}</Tag>}
        {modeChange(file) && <Tag>{modeChange(file)}</Tag>}
        <Counts additions={file.additions} deletions={file.deletions} />
        {status !== 'deleted' && (
          <LinkButton
            kind="quiet"
            small
            icon="file"
            to="/o/$org/$repo/blob/$"
            params={{ org: ends.org, repo: ends.name, _splat: addressOf(commits.head, path) }}
            aria-label={`The whole of ${path}`}
            title="The whole file"
          />
        )}
      </header>
      {isOpen && <Body file={file} ends={ends} commits={commits} pointed={pointed} />}
    </section>
  )
})

const isMade = (mode: string) => !/^0+$/.test(mode)

function modeChange({ oldMode, newMode }: FileChange): string | undefined {
  if (oldMode === newMode || !isMade(oldMode) || !isMade(newMode)) return undefined
  return `${oldMode} → ${newMode}`
}

function Body(props: FileDiffProps) {
  const { file, commits } = props
  if (isImage(file) && file.binary) return <ImageDiff file={file} ends={props.ends} commits={commits} />
  if (file.binary) return <p className={styles.note}>Binary file: there are no lines to show.</p>
  if (file.oldMode === '160000' || file.newMode === '160000')
    return <p className={styles.note}>Another repository, at another commit.</p>
  if (file.additions + file.deletions === 0)
    return (
      <p className={styles.note}>
        {file.status === 'renamed'
          ? 'Renamed without changes.'
          : file.status === 'added'
            ? 'An empty file.'
            : 'No line differs.'}
      </p>
    )
  return (
    <>
      {isImage(file) && <ImageDiff file={file} ends={props.ends} commits={commits} />}
      {file.patch === undefined ? <OnDemand {...props} /> : <FileText {...props} patch={file.patch} />}
    </>
  )
}

/** Too large to come with the others: whoever wants it asks for it. */
function OnDemand(props: FileDiffProps) {
  const { file, ends, pointed } = props
  const place = useRef<HTMLDivElement>(null)
  const { isNear } = useNear(place)
  // An address that points into it asks for it, too.
  const [isWanted, setWanted] = useState(pointed !== undefined)
  const read = useQuery({
    ...fileQuery(ends, file.path, CONTEXT),
    enabled: isWanted && (isNear || pointed !== undefined),
    throwOnError: false,
  })
  if (read.data?.patch !== undefined) return <FileText {...props} patch={read.data.patch} />
  return (
    <div ref={place} className={styles.note}>
      {read.isLoading ? (
        <Skeleton rows={8} />
      ) : read.error ? (
        <Problem error={read.error} onRetry={() => void read.refetch()} />
      ) : read.data ? (
        <p>The changes of this file are too large to be shown. Clone the repository to read them.</p>
      ) : (
        <>
          <p>{`A large change: ${(file.additions + file.deletions).toLocaleString('en')} lines.`}</p>
          <Button small onClick={() => setWanted(true)}>
            Show it
          </Button>
        </>
      )}
    </div>
  )
}
