import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { lastChangesQuery } from './addresses.ts'
import styles from './Directory.module.css'
import type { DirectoryAt, Row } from './Directory.tsx'

/** A long history is followed in several answers, each going on where the last one ended; so many are asked for. */
const MOST_ANSWERS = 30
const AGAIN_MS = 300

/** What was done to an entry last, when, and by whom. Comes after the entry itself. */
export function LastChange({ at, row }: { at: DirectoryAt; row: Row }) {
  // All rows of a page share one question, which is asked when one of them is seen.
  const { data } = useQuery({
    ...lastChangesQuery(at, row.cursor),
    staleTime: Number.POSITIVE_INFINITY,
    throwOnError: false,
    refetchInterval: ({ state }) =>
      state.data?.complete === false && state.dataUpdateCount < MOST_ANSWERS ? AGAIN_MS : false,
  })
  const change = data?.items.find(({ name }) => name === row.name)?.commit
  if (!change) return null
  return (
    <>
      <Link
        to="/o/$org/$repo/commit/$oid"
        params={{ org: at.org, repo: at.name, oid: change.oid }}
        className={styles.change}
        title={change.summary}
      >
        {change.summary}
      </Link>
      <span className={styles.when}>
        <span className={styles.who}>{change.author.name}</span>
        <span className={styles.who}>&nbsp;·&nbsp;</span>
        <TimeAgo at={change.time} />
      </span>
    </>
  )
}
