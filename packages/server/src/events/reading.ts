import type { NumberedEvent } from '@trellis/contract'
import type { Db } from '../schema.ts'
import { present, ROW_BYTES } from './presenting.ts'
import * as store from './store.ts'
import { compileTypes } from './subscriptions.ts'
import type { EventScope } from './types.ts'

interface Wanted {
  scope: EventScope
  /** Only those numbered above it. */
  above: number
  /** Names, and patterns. */
  types: readonly string[]
  limit: number
  /** What they may take together; the first is given in any case. */
  maxBytes: number
}

interface Found {
  events: NumberedEvent[]
  /** Up to here all that is wanted was found. */
  to: number
  /** Nothing more has been written. */
  isAll: boolean
}

/** Where types are not all known by name, so many events are looked at. */
const LOOKED_AT = 1_000

/** The first events of some types from a place on. However long the log is, little of it is looked at. */
export async function readSome(q: Db, wanted: Wanted): Promise<Found> {
  const { scope, limit } = wanted
  const { seqs, to, isAll } = await choose(q, wanted)
  if (seqs.length === 0) return { events: [], to, isAll }
  let left = wanted.maxBytes
  const taken = (await store.listSizes(q, scope, seqs.slice(0, limit))).filter(({ bytes }, i) => {
    left -= (bytes ?? 0) + ROW_BYTES
    return left >= 0 || i === 0
  })
  const events = (
    await store.listAt(
      q,
      scope,
      taken.map(({ seq }) => seq),
    )
  ).map(present)
  const isCut = taken.length < seqs.length
  return { events, to: isCut ? (events.at(-1)?.seq ?? to) : to, isAll: isAll && !isCut }
}

async function choose(
  q: Db,
  { scope, above, types, limit }: Wanted,
): Promise<{ seqs: number[]; to: number; isAll: boolean }> {
  const { areNames, has } = compileTypes(types)
  if (areNames) {
    const last = (await store.findLast(q, scope)) ?? above
    const seqs = await store.listSeqs(q, { scope, order: 'oldest', above, limit }, types)
    const isAll = seqs.length < limit
    return { seqs, to: isAll ? Math.max(last, above) : (seqs.at(-1) ?? above), isAll }
  }
  const looked = await store.listTypes(q, { scope, above, limit: LOOKED_AT })
  const seqs = looked.flatMap(({ seq, type }) => (has(type) ? [seq] : []))
  return { seqs, to: looked.at(-1)?.seq ?? above, isAll: looked.length < LOOKED_AT }
}
