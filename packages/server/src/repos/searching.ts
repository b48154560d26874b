import type { Repo } from '@trellis/contract'
import { type Caller, requirePower } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import { textCursor } from '../platform/cursors.ts'
import { createPauses } from '../platform/pauses.ts'
import type { Db } from '../schema.ts'
import type { createPresenter } from './presenting.ts'
import * as store from './store.ts'

interface SearchInput {
  query: string
  cursor?: string | undefined
  limit: number
}

/** Where a page ended: first come the names that begin so, then those that have it somewhere else. */
interface Place {
  part: 'begins' | 'contains'
  after: string
}

/** Read at once, of an index alone. */
const NAMES_AT_ONCE = 1_000
/** For one answer. Whoever wants more goes on from there. */
const MAX_NAMES = 50_000

/** Finds repositories of the acting organization by name. */
export function createSearching({
  db,
  clock,
  presenterFor,
}: {
  db: Db
  clock: Clock
  presenterFor: ReturnType<typeof createPresenter>
}) {
  /** Names that have it anywhere but in the beginning, and up to where all were looked at; null when that is the end. */
  async function findContaining(
    orgId: string,
    { query, after, limit }: { query: string; after: string; limit: number },
    signal: AbortSignal,
  ): Promise<{ names: string[]; to: string | null }> {
    const names: string[] = []
    const pause = createPauses()
    let to = after
    for (let looked = 0; looked < MAX_NAMES; looked += NAMES_AT_ONCE) {
      const some = await store.listNamesAfter(db, { orgId, after: to, limit: NAMES_AT_ONCE })
      for (const { name } of some) {
        if (name.indexOf(query) > 0) names.push(name)
        to = name
        if (names.length === limit) return { names, to }
      }
      if (some.length < NAMES_AT_ONCE) return { names, to: null }
      await pause()
      signal.throwIfAborted()
    }
    return { names, to }
  }

  return async (
    caller: Caller,
    input: SearchInput,
    signal: AbortSignal,
  ): Promise<{ items: Repo[]; nextCursor: string | null }> => {
    requirePower(caller, 'repo:read')
    const query = input.query.toLowerCase()
    const org = { orgId: caller.org.id, now: clock() }
    const present = presenterFor(caller)
    if (caller.onlyRepoId) {
      const only = { ...org, id: caller.onlyRepoId, after: '', limit: 1 }
      const rows = (await store.listOnly(db, only)).filter(({ name }) => name.includes(query))
      return { items: rows.map(present), nextCursor: null }
    }
    const place = readPlace(input.cursor) ?? { part: 'begins', after: '' }
    const first =
      place.part === 'begins'
        ? await store.listBeginning(db, {
            ...org,
            prefix: query,
            // Of what names are made nothing comes after it.
            end: `${query}~`,
            after: place.after,
            limit: input.limit,
          })
        : []
    const last = first.at(-1)
    if (last && first.length === input.limit)
      return { items: first.map(present), nextCursor: writePlace({ part: 'begins', after: last.name }) }
    const rest = await findContaining(
      caller.org.id,
      {
        query,
        after: place.part === 'contains' ? place.after : '',
        limit: input.limit - first.length,
      },
      signal,
    )
    const rows = rest.names.length > 0 ? await store.listNamed(db, { ...org, names: rest.names }) : []
    return {
      items: [...first, ...rows].map(present),
      nextCursor: rest.to === null ? null : writePlace({ part: 'contains', after: rest.to }),
    }
  }
}

const writePlace = ({ part, after }: Place): string => textCursor.encode(`${part}:${after}`)

function readPlace(cursor: string | undefined): Place | undefined {
  const [, part, after = ''] = /^(begins|contains):(.*)$/.exec(textCursor.decode(cursor) ?? '') ?? []
  return part ? { part: part as Place['part'], after } : undefined
}
