import type { Db } from '../schema.ts'
import * as healthStore from './health-store.ts'
import type { PackRow } from './store.ts'

const PAGE = 2_000

/** Every pack that a repository lists, in the order of ids, however many there are. */
export async function* listedPacks(db: Db): AsyncGenerator<PackRow> {
  for (let after = ''; ; ) {
    const page = await healthStore.listListed(db, { after, limit: PAGE })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last.id
  }
}
