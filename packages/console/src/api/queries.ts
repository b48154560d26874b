import {
  infiniteQueryOptions,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { toast } from '../ui/Toast.tsx'
import { type Api, pathOf, trellis } from './client.ts'
import { ApiError, isApiError } from './errors.ts'
import { goToSignIn } from './sign-in.ts'

/** As the contract's client has it. */
type Operation<Input, Output> = (input: Input, options?: { signal?: AbortSignal }) => Promise<Output>
interface Listed<Item> {
  items: Item[]
  nextCursor: string | null
}

/** A session may end at any moment: then the next answer says so. */
const onError = (error: unknown): void => {
  if (isApiError(error, 'UNAUTHENTICATED')) goToSignIn()
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What the server refuses it refuses again. What it never got may get there.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && [0, 502, 503].includes(error.status),
      throwOnError: true,
    },
  },
})

/** What an operation answers: `useSuspenseQuery(query(org, (api) => api.repos.get, { name }))`. */
export function query<Input, Output>(
  org: string | undefined,
  pick: (api: Api) => Operation<Input, Output>,
  input: NoInfer<Input>,
) {
  return queryOptions({
    queryKey: [org ?? '', pathOf(pick), input] as const,
    queryFn: ({ signal }) => pick(trellis(org))(input, { signal }),
  })
}

/** All that a listing has, page by page, for a loader; a page shows it with `useList`. */
export function pages<Input, Item>(
  org: string | undefined,
  pick: (api: Api) => Operation<Input, Listed<Item>>,
  input: NoInfer<Input>,
) {
  return infiniteQueryOptions({
    queryKey: [org ?? '', pathOf(pick), input, 'pages'] as const,
    queryFn: ({ signal, pageParam }) =>
      pick(trellis(org))({ ...input, ...(pageParam && { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** The items of a listing that have been read so far, and how to read on: `useList(org, (api) => api.repos.list, {})`. */
export function useList<Input, Item>(
  org: string | undefined,
  pick: (api: Api) => Operation<Input, Listed<Item>>,
  input: NoInfer<Input>,
) {
  const list = useInfiniteQuery(pages(org, pick, input))
  return {
    items: (list.data?.pages ?? []).flatMap(({ items }) => items),
    isPending: list.isPending,
    hasMore: list.hasNextPage,
    isReading: list.isFetchingNextPage,
    readMore: list.fetchNextPage,
  }
}

/** Everything that came from these operations is asked for again: `refresh(org, 'repos/')`. */
export function refresh(org: string | undefined, ...starts: string[]): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [of, path] }) =>
      of === (org ?? '') && typeof path === 'string' && starts.some((start) => path.startsWith(start)),
  })
}

/** What no page shows now is forgotten, such as all about a repository that has another name or is gone. */
export function forgetUnseen(org: string): void {
  queryClient.removeQueries({ type: 'inactive', predicate: ({ queryKey: [of] }) => of === org })
}

interface ActionOptions<Result> {
  /** Said when it is done. */
  done?: string | ((result: Result) => string)
  /** What it changes: the beginnings of paths of operations, `repos/`. */
  changes?: { org: string | undefined; paths: string[] }
  onDone?: (result: Result) => void
}

/**
 * Something a person does: `const rename = useAction((name: string) => api.repos.update(…), { done: 'Renamed' })`, then
 * `<Button busy={rename.busy} onClick={() => rename.run(name)}>` and `<ActionProblem of={rename} />` beside it.
 */
export function useAction<Given, Result>(
  act: (given: Given) => Promise<Result>,
  options: ActionOptions<Result> = {},
) {
  const client = useQueryClient()
  const mutation = useMutation({
    mutationFn: act,
    throwOnError: false,
    onSuccess: async (result: Result) => {
      const { done, changes, onDone } = options
      if (done) toast(typeof done === 'string' ? done : done(result))
      if (changes) await refresh(changes.org, ...changes.paths)
      onDone?.(result)
    },
  })
  return {
    run: mutation.mutate,
    busy: mutation.isPending,
    error: mutation.error,
    result: mutation.data,
    forget: mutation.reset,
    client,
  }
}
