import { infiniteQueryOptions, useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query'
import type { RecordCollection, RecordRow } from '@trellis/contract'
import { trellis } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { query, queryClient } from '../../api/queries.ts'
import type { Where } from './where.ts'

const PAGE = 100

export const collectionsQuery = (org: string, name: string) =>
  query(org, (api) => api.records.collections, { name })

/** What is in force of a name; undefined when nothing is. */
export function useCollection(org: string, name: string, record: string): RecordCollection | undefined {
  const { data } = useSuspenseQuery(collectionsQuery(org, name))
  return data.items.find(({ schema }) => schema.name === record)
}

export interface RowsAsked {
  name: string
  record: string
  where?: Where | undefined
  sort?: string | undefined
}

const rowsQuery = (org: string, { name, record, where, sort }: RowsAsked) => {
  const input = { name, record, limit: PAGE, ...(where && { where }), ...(sort && { sort }) }
  return infiniteQueryOptions({
    queryKey: [org, 'records/list', input, 'pages'] as const,
    queryFn: ({ signal, pageParam }) =>
      trellis(org).records.list({ ...input, ...(pageParam && { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ cursor }) => cursor,
    // What is wrong with a filter is said beside it.
    throwOnError: (error) => !isApiError(error, 'BAD_REQUEST'),
  })
}

/** Rows as far as they have been read. A page may be short, or even empty, and others follow all the same. */
export function useRows(org: string, asked: RowsAsked) {
  const list = useInfiniteQuery(rowsQuery(org, asked))
  const pages = list.data?.pages ?? []
  return {
    rows: pages.flatMap(({ rows }) => rows),
    isPending: list.isPending,
    error: list.error,
    hasMore: list.hasNextPage,
    isReading: list.isFetchingNextPage,
    readMore: list.fetchNextPage,
    /** Nothing was found among the last rows that were looked at: somebody should say whether to go on. */
    isScarce: (pages.at(-1)?.rows.length ?? 1) === 0,
  }
}

/** Puts a row as it is now into every list and page that shows it; undefined when it is gone. */
export function keepRow(org: string, { name, record }: RowsAsked, id: string, row: RecordRow | undefined) {
  queryClient.setQueriesData<{ pages: { rows: RecordRow[] }[]; pageParams: unknown[] }>(
    {
      predicate: ({ queryKey: [of, path, input] }) =>
        of === org && path === 'records/list' && isOf(input, name, record),
    },
    (data) =>
      data?.pages && {
        ...data,
        pages: data.pages.map((page) => ({ ...page, rows: replaced(page.rows, id, row) })),
      },
  )
  const { queryKey } = query(org, (api) => api.records.get, { name, record, id })
  if (row) queryClient.setQueryData<RecordRow>(queryKey, (known) => newer(known, row))
}

function replaced(rows: RecordRow[], id: string, row: RecordRow | undefined): RecordRow[] {
  if (!rows.some((one) => one.id === id)) return rows
  return rows.flatMap((one) => (one.id !== id ? [one] : row ? [newer(one, row)] : []))
}

/** What comes late is no news. */
const newer = (known: RecordRow | undefined, row: RecordRow): RecordRow =>
  known && known.revision > row.revision ? known : row

const isOf = (input: unknown, name: string, record: string): boolean =>
  typeof input === 'object' &&
  input !== null &&
  (input as RowsAsked).name === name &&
  (input as RowsAsked).record === record
