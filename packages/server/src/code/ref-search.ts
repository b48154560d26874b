import type { GitRef } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { Ref } from '../git/protocol/advertisement.ts'
import type { SortedRefs } from '../git/protocol/sorted-refs.ts'
import { createPauses } from '../platform/pauses.ts'
import type { ReposService } from '../repos/service.ts'
import { present } from './refs.ts'
import type { Repositories } from './repositories.ts'

const PREFIXES = { branch: 'refs/heads/', tag: 'refs/tags/' } as const

type Searched = keyof typeof PREFIXES

export type RefSearch = ReturnType<typeof createRefSearch>

/** Finding branches and tags by a part of their names, among the refs that are kept in memory for git. */
export function createRefSearch({
  repos,
  repositories,
}: {
  repos: ReposService
  repositories: Repositories
}) {
  return async (
    caller: Caller,
    input: { name: string; query: string; type?: Searched | undefined; limit: number },
    signal: AbortSignal,
  ): Promise<{ items: GitRef[]; truncated: boolean }> => {
    const repo = await repos.open(caller, input.name, 'repo:read')
    const { refs } = await repositories.refList(repo)
    const prefixes = input.type ? [PREFIXES[input.type]] : Object.values(PREFIXES)
    const found = await searchRefs(refs, { ...input, prefixes, signal })
    return { ...found, items: found.items.map(({ name, oid }) => present(name, oid)) }
  }
}

interface SearchOptions {
  prefixes: readonly string[]
  query: string
  limit: number
  signal: AbortSignal
}

async function searchRefs(refs: SortedRefs, { prefixes, query, limit, signal }: SearchOptions) {
  const wanted = query.toLowerCase()
  const pause = createPauses()
  /** By how well they match, and of each as many as there is room for. */
  const ranked: Ref[][] = [[], [], [], []]
  let count = 0
  for (const prefix of prefixes)
    for (const { block, from, to } of refs.below(prefix)) {
      for (let i = from; i < to; i++) {
        const ref = block[i] as Ref
        const rank = rankOf(ref.name.slice(prefix.length).toLowerCase(), wanted)
        if (rank === undefined) continue
        count++
        const alike = ranked[rank] as Ref[]
        if (alike.length < limit) alike.push(ref)
      }
      await pause()
      signal.throwIfAborted()
    }
  return { items: ranked.flat().slice(0, limit), truncated: count > limit }
}

/** The very name, one that begins so, one with a part that does, and one that has it anywhere. */
function rankOf(name: string, wanted: string): number | undefined {
  const at = name.indexOf(wanted)
  if (at < 0) return undefined
  if (at === 0) return name.length === wanted.length ? 0 : 1
  return name.includes(`/${wanted}`) ? 2 : 3
}
