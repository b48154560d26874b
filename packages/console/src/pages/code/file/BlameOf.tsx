import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { query } from '../../../api/queries.ts'
import { TimeAgo } from '../../../ui/TimeAgo.tsx'
import styles from './BlameOf.module.css'

interface BlameOfProps {
  org: string
  name: string
  commit: string
  path: string
  line: number
}

/** As many lines as are asked for at once. */
const LINES = 500

/** Beside a line: the commit it comes from, said at the first of those that come from the same. */
export function BlameOf({ org, name, commit, path, line }: BlameOfProps) {
  const startLine = Math.floor((line - 1) / LINES) * LINES + 1
  // The lines that are seen ask, all of a piece together.
  const { data } = useQuery({
    ...query(org, (api) => api.git.blame, {
      name,
      ref: commit,
      path,
      startLine,
      endLine: startLine + LINES - 1,
    }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const range = data?.ranges.find((range) => range.startLine <= line && range.endLine >= line)
  const from = data?.commits.find(({ oid }) => oid === range?.commit)
  if (!range || !from) return null
  if (range.startLine !== line) return <div className={styles.same} />
  return (
    <div className={styles.first}>
      <span className={styles.when}>
        <TimeAgo at={from.time} />
      </span>
      <Link
        to="/o/$org/$repo/commit/$oid"
        params={{ org, repo: name, oid: from.oid }}
        className={styles.summary}
        title={`${from.summary}\n${from.author.name} · ${from.oid.slice(0, 7)}`}
      >
        {from.summary}
      </Link>
      <span className={styles.who}>{from.author.name}</span>
    </div>
  )
}
