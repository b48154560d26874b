import { useQuery } from '@tanstack/react-query'
import { query } from '../../api/queries.ts'
import { CommitLine } from './CommitLine.tsx'
import type { DirectoryAt } from './Directory.tsx'

/** The last commit that changed what is shown. Comes after it. */
export function LatestCommit({ at }: { at: DirectoryAt }) {
  const { org, name, commit, path } = at
  const { data } = useQuery({
    ...query(org, (api) => api.git.commits.list, { name, ref: commit, limit: 1, ...(path && { path }) }),
    staleTime: Number.POSITIVE_INFINITY,
    throwOnError: false,
  })
  const [latest] = data?.items ?? []
  if (!latest) return <>&nbsp;</>
  const [summary = ''] = latest.message.split('\n')
  const shown = { oid: latest.oid, summary, author: latest.author, time: latest.committer.time }
  return <CommitLine commit={shown} at={at} />
}
