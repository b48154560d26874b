import { useSuspenseQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { LinkButton } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page } from '../../ui/Page.tsx'
import { addressOf, blobQuery, MOST_SHOWN_BYTES, refInWords } from './addresses.ts'
import { Box, Toolbar } from './Box.tsx'
import { Crumbs } from './Crumbs.tsx'
import { BlameOf } from './file/BlameOf.tsx'
import { GoToLine } from './file/GoToLine.tsx'
import { Lines, linesOf } from './file/Lines.tsx'
import { languageOfFile } from './highlight/languages.ts'
import { LatestCommit } from './LatestCommit.tsx'
import { NothingAt } from './NothingAt.tsx'
import { type Place, usePin, usePlace } from './place.ts'
import { RefPicker } from './RefPicker.tsx'

/** Who wrote each line of a file, and when. */
export function BlamePage() {
  const place = usePlace()
  const { org, name, ref, path, entry } = place
  usePin('/o/$org/$repo/blame/$', place)
  return (
    <Page title={`Blame of ${path} at ${refInWords(place)} · ${org}/${name}`} full>
      <h1 className="heard">{`Blame of ${path}`}</h1>
      <Toolbar
        actions={
          <LinkButton
            icon="file"
            to="/o/$org/$repo/blob/$"
            params={{ org, repo: name, _splat: addressOf(ref, path) }}
          >
            The file alone
          </LinkButton>
        }
      >
        <RefPicker to="/o/$org/$repo/blame/$" at={place} />
        <Crumbs at={place} />
      </Toolbar>
      {entry?.type !== 'blob' ? (
        <NothingAt place={place} />
      ) : (entry.size ?? 0) > MOST_SHOWN_BYTES ? (
        <EmptyState title="This file is too large to tell who wrote each line" />
      ) : (
        <Blame place={place} oid={entry.oid} />
      )}
    </Page>
  )
}

function Blame({ place, oid }: { place: Place; oid: string }) {
  const { org, name, path, commit } = place
  const { data } = useSuspenseQuery(blobQuery(org, name, oid))
  const before = useCallback(
    (line: number) => <BlameOf org={org} name={name} commit={commit} path={path} line={line} />,
    [org, name, commit, path],
  )
  if (data.encoding !== 'utf-8' || data.content === '')
    return <EmptyState title="There are no lines in this file" />
  return (
    <Box head={<LatestCommit at={place} />}>
      <GoToLine last={linesOf(data.content).length} />
      <Lines
        label={`Text of ${path}, with who wrote it`}
        text={data.content}
        language={languageOfFile(path)}
        before={before}
      />
    </Box>
  )
}
