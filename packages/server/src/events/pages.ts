import type { NumberedEvent } from '@trellis/contract'
import { createPauses } from '../platform/pauses.ts'
import type { Db } from '../schema.ts'
import { present, ROW_BYTES } from './presenting.ts'
import * as store from './store.ts'

/** What the events of a page may take together, the first in any case: all of it goes out as one JSON text. */
const PAGE_BYTES = 1024 * 1024
/** Read at once as long as it is not known that they are small; that is what most are. */
const FEW = 20
const SMALL_BYTES = 4 * 1024

interface EventsPage {
  events: NumberedEvent[]
  isMore: boolean
}

/** Up to `limit` events of a log, or fewer where they are large. Others are let in between. */
export async function readPage(q: Db, { limit, ...range }: store.EventRange): Promise<EventsPage> {
  const events: NumberedEvent[] = []
  const pause = createPauses()
  let bytes = 0
  let from: Pick<store.EventRange, 'above' | 'below'> = {}
  for (;;) {
    // One more, to see whether there is one.
    const left = limit + 1 - events.length
    const areSmall = events.length > 0 && bytes <= events.length * SMALL_BYTES
    const wanted = areSmall ? left : Math.min(left, FEW)
    const rows = await store.listEvents(q, { ...range, ...from, limit: wanted })
    for (const row of rows) {
      bytes += ROW_BYTES + (row.payload?.length ?? 0)
      if (events.length === limit || (events.length > 0 && bytes > PAGE_BYTES))
        return { events, isMore: true }
      events.push(present(row))
      await pause()
    }
    const last = rows.at(-1)
    if (!last || rows.length < wanted) return { events, isMore: false }
    from = range.order === 'oldest' ? { above: last.seq } : { below: last.seq }
  }
}
