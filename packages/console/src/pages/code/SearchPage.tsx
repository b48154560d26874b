import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { pages } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Checkbox, Input } from '../../ui/Field.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { addressOf, overviewQuery } from './addresses.ts'
import { Box } from './Box.tsx'
import styles from './Search.module.css'

interface Wanted {
  q?: string
  ref?: string
  path?: string
  case?: boolean
}

/** Words in the files of a ref. What is looked for stands in the address. */
export function SearchPage() {
  const { org, name, repo } = useRepo()
  const wanted = useSearch({ strict: false }) as Wanted
  const { data: overview } = useSuspenseQuery(overviewQuery(org, name))
  const ref = wanted.ref ?? repo.defaultBranch
  return (
    <Page title={`${wanted.q ? `${wanted.q} · ` : ''}Search · ${org}/${name}`}>
      <PageHeader
        title="Search the code"
        about={`In the files of ${ref}${wanted.path ? `, below ${wanted.path}` : ''}.`}
      />
      <SearchForm key={wanted.q} wanted={wanted} />
      {overview.head === null && !wanted.ref ? (
        <EmptyState title="There is nothing to search yet" />
      ) : wanted.q ? (
        <Results at={{ org, name, ref }} wanted={{ ...wanted, q: wanted.q }} />
      ) : null}
    </Page>
  )
}

function SearchForm({ wanted }: { wanted: Wanted }) {
  const { org, name } = useRepo()
  const [text, setText] = useState(wanted.q ?? '')
  const [sameCase, setSameCase] = useState(wanted.case === true)
  const navigate = useNavigate()
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        const { case: _, ...rest } = wanted
        const search = { ...rest, q: text, ...(sameCase && { case: true }) }
        void navigate({ to: '/o/$org/$repo/search', params: { org, repo: name }, search })
      }}
    >
      <Input
        type="search"
        mono
        required
        autoFocus
        maxLength={256}
        aria-label="A part of a line"
        placeholder="A part of a line"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button kind="first" type="submit" icon="search">
        Search
      </Button>
      <Checkbox
        label="Match case"
        checked={sameCase}
        onChange={(event) => setSameCase(event.target.checked)}
      />
    </form>
  )
}

interface ResultsProps {
  at: { org: string; name: string; ref: string }
  wanted: Wanted & { q: string }
}

function Results({ at, wanted }: ResultsProps) {
  const list = useInfiniteQuery(
    pages(at.org, (api) => api.git.grep, {
      name: at.name,
      ref: at.ref,
      query: wanted.q,
      limit: 100,
      ...(wanted.path && { path: wanted.path }),
      ...(wanted.case && { caseSensitive: true }),
    }),
  )
  if (list.isPending) return <Skeleton />
  const found = list.data?.pages.flatMap(({ items }) => items) ?? []
  if (found.length === 0) return <EmptyState title={`Nothing in ${at.ref} has “${wanted.q}”`} />
  const last = list.data?.pages.at(-1) as { truncated?: boolean } | undefined
  return (
    <>
      {[...byPath(found)].map(([path, lines]) => (
        <FoundIn key={path} at={at} path={path} lines={lines} words={wanted.q} />
      ))}
      <Pager
        hasMore={list.hasNextPage}
        isReading={list.isFetchingNextPage}
        readMore={() => void list.fetchNextPage()}
      />
      {last?.truncated && !list.hasNextPage && (
        <p className={styles.note}>There may be more: look for something that fewer lines have.</p>
      )}
    </>
  )
}

interface FoundLine {
  path: string
  line: number
  text: string
  clipped: boolean
}

function byPath(found: FoundLine[]): Map<string, FoundLine[]> {
  const files = new Map<string, FoundLine[]>()
  for (const line of found) {
    const same = files.get(line.path)
    if (same) same.push(line)
    else files.set(line.path, [line])
  }
  return files
}

interface FoundInProps {
  at: ResultsProps['at']
  path: string
  lines: FoundLine[]
  words: string
}

const FoundIn = ({ at: { org, name, ref }, path, lines, words }: FoundInProps) => {
  const link = {
    to: '/o/$org/$repo/blob/$',
    params: { org, repo: name, _splat: addressOf(ref, path) },
  } as const
  return (
    <Box
      head={
        <h2 className={styles.file}>
          <Link {...link}>{path}</Link>
        </h2>
      }
    >
      <ul className={styles.lines}>
        {lines.map(({ line, text, clipped }) => (
          <li key={line}>
            <Link {...link} hash={`L${line}`} className={styles.line}>
              <span className={styles.number}>{line}</span>
              <code>
                <Marked text={text} words={words} />
                {clipped && ' …'}
              </code>
            </Link>
          </li>
        ))}
      </ul>
    </Box>
  )
}

/** The first place in a line, so that one sees why it is here. */
function Marked({ text, words }: { text: string; words: string }) {
  const at = text.toLowerCase().indexOf(words.toLowerCase())
  if (at < 0) return text
  return (
    <>
      {text.slice(0, at)}
      <mark className={styles.mark}>{text.slice(at, at + words.length)}</mark>
      {text.slice(at + words.length)}
    </>
  )
}
