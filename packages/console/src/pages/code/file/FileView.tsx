import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { TreeEntry } from '@trellis/contract'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { AnchorButton, LinkButton } from '../../../ui/Button.tsx'
import { Bytes } from '../../../ui/Bytes.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { Tabs } from '../../../ui/Tabs.tsx'
import {
  addressOf,
  blobQuery,
  isExecutable,
  isImage,
  isMarkdown,
  isSymlink,
  MOST_SHOWN_BYTES,
  rawPath,
} from '../addresses.ts'
import { Box, BoxActions } from '../Box.tsx'
import { languageOfFile } from '../highlight/languages.ts'
import { LatestCommit } from '../LatestCommit.tsx'
import type { Place } from '../place.ts'
import styles from './FileView.module.css'
import { GoToLine } from './GoToLine.tsx'
import { Lines, linesOf } from './Lines.tsx'
import { readMarked } from './marks.ts'
import { SymlinkTo } from './SymlinkTo.tsx'

const Markdown = lazy(() => import('../markdown/Markdown.tsx'))

interface FileProps {
  place: Place
  file: TreeEntry
}

/** A file, in the way that suits it. */
export function FileView({ place, file }: FileProps) {
  const size = file.size ?? 0
  if (isImage(file.path) && !isSymlink(file))
    return (
      <Frame place={place} file={file}>
        <div className={styles.image}>
          <img src={rawPath(place)} alt={file.name} />
        </div>
      </Frame>
    )
  if (size > MOST_SHOWN_BYTES)
    return (
      <Frame place={place} file={file}>
        <p className={styles.note}>
          This file is too large to be shown: <Bytes of={size} />. Download it to look at it.
        </p>
      </Frame>
    )
  return <TextFile place={place} file={file} />
}

function TextFile({ place, file }: FileProps) {
  const { data } = useQuery(blobQuery(place.org, place.name, file.oid))
  const { view, choose } = useView(file.path)
  if (!data)
    return (
      <Frame place={place} file={file}>
        <div className={styles.note}>
          <Skeleton />
        </div>
      </Frame>
    )
  if (data.encoding !== 'utf-8' || data.content.includes('\0'))
    return (
      <Frame place={place} file={file}>
        <p className={styles.note}>This is no text. Download it to open it in a program.</p>
      </Frame>
    )
  const text = data.content
  return (
    <Frame
      place={place}
      file={file}
      about={`${linesOf(text).length.toLocaleString('en')} lines`}
      actions={
        <>
          {view && (
            <Tabs
              label="How to show it"
              value={view}
              options={[
                { value: 'rendered', label: 'Rendered' },
                { value: 'source', label: 'Source' },
              ]}
              onChoose={choose}
            />
          )}
          <LinkButton
            kind="quiet"
            small
            to="/o/$org/$repo/blame/$"
            params={{ org: place.org, repo: place.name, _splat: addressOf(place.ref, file.path) }}
          >
            Blame
          </LinkButton>
          <CopyButton text={text} label="Copy the file" bare />
        </>
      }
    >
      {isSymlink(file) ? (
        <SymlinkTo place={place} target={text} />
      ) : text === '' ? (
        <p className={styles.note}>This file is empty.</p>
      ) : view === 'rendered' ? (
        <Suspense fallback={<Skeleton />}>
          <Markdown text={text} at={place} />
        </Suspense>
      ) : (
        <>
          <GoToLine last={linesOf(text).length} />
          <Lines label={`Text of ${file.path}`} text={text} language={languageOfFile(file.path)} />
        </>
      )}
    </Frame>
  )
}

/** Markdown is shown rendered, unless lines of it are pointed to. */
function useView(path: string) {
  const hash = useLocation({ select: (location) => location.hash })
  const [chosen, setChosen] = useState<'rendered' | 'source'>()
  const navigate = useNavigate()
  if (!isMarkdown(path)) return { view: undefined, choose: () => {} }
  return {
    view: chosen ?? (readMarked(hash) ? 'source' : 'rendered'),
    choose(view: 'rendered' | 'source') {
      setChosen(view)
      // Lines mean nothing in what is rendered, and headings nothing in the source.
      if (hash) void navigate({ to: '.', hash: '', replace: true, resetScroll: false })
    },
  }
}

interface FrameProps extends FileProps {
  about?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

function Frame({ place, file, about, actions, children }: FrameProps) {
  return (
    <Box head={<LatestCommit at={place} />}>
      <div className={styles.bar}>
        <span>
          {about && <>{about} · </>}
          <Bytes of={file.size ?? 0} />
          {isExecutable(file) && ' · executable'}
          {isSymlink(file) && ' · symlink'}
        </span>
        <BoxActions>
          {actions}
          <AnchorButton kind="quiet" small href={rawPath(place)}>
            Raw
          </AnchorButton>
          <AnchorButton
            kind="quiet"
            small
            icon="download"
            href={rawPath(place, true)}
            aria-label="Download"
            title="Download"
            download
          />
        </BoxActions>
      </div>
      {children}
    </Box>
  )
}
