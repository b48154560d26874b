import { infiniteQueryOptions, queryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { type Api, trellis } from '../../../api/client.ts'

type Answer = Awaited<ReturnType<Api['git']['diff']>>
export type FileChange = Answer['files'][number]

/** What is held against what. Without a base, a commit against its first parent. */
export interface Ends {
  org: string
  name: string
  head: string
  base?: string | undefined
  mode?: 'three-dot' | 'two-dot'
  ignoreWhitespace: boolean
}

/** So many files are read at once. */
const FILES = 20
/** As much as there is around the changes of a file. */
export const WHOLE = 10_000

const inputOf = ({ name, head, base, mode = 'three-dot', ignoreWhitespace }: Ends) => ({
  name,
  head,
  ...(base && { base }),
  mode,
  ignoreWhitespace,
})

const diffQuery = (ends: Ends) =>
  infiniteQueryOptions({
    queryKey: [ends.org, 'git/diff', inputOf(ends), 'pages'] as const,
    queryFn: ({ signal, pageParam }) =>
      trellis(ends.org).git.diff(
        { ...inputOf(ends), limit: FILES, ...(pageParam && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** One file, with a longer patch than a page has, and as much around its changes as wanted. */
export const fileQuery = (ends: Ends, path: string, context: number) =>
  queryOptions({
    queryKey: [ends.org, 'git/diff', { ...inputOf(ends), path, context }] as const,
    queryFn: ({ signal }) =>
      trellis(ends.org).git.diff({ ...inputOf(ends), path, context, limit: 1 }, { signal }),
    select: ({ files }) => files[0],
  })

/** The files that differ, as far as they have been read. */
export function useDiff(ends: Ends) {
  const { data, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    diffQuery(ends),
  )
  const first = data?.pages[0]
  return {
    isPending,
    files: data?.pages.flatMap(({ files }) => files) ?? [],
    total: first?.total ?? { files: 0, additions: 0, deletions: 0 },
    isTruncated: first?.filesTruncated ?? false,
    base: first?.base ?? null,
    head: first?.head ?? '',
    hasMore: hasNextPage,
    isReading: isFetchingNextPage,
    readMore: fetchNextPage,
  }
}
