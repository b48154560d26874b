import type { OrgsService } from '../orgs/service.ts'
import type { RemoveSome } from '../repos/remains.ts'
import * as store from './store.ts'

/** What records keep of a repository: first nobody adds to it any more, then rows go, then what they were counted by. */
export const createRecordRemains = ({ orgs }: { orgs: OrgsService }): readonly RemoveSome[] => [
  async (tx, repoId) => {
    await store.hideCollections(tx, repoId)
    return 0
  },
  store.deleteSomeRecords,
  async (tx, repoId) => {
    const collections = await store.listCollections(tx, repoId)
    const [first] = collections
    if (!first) return 0
    const reserved = collections.reduce((sum, { reserved_bytes }) => sum + reserved_bytes, 0)
    await orgs.addBytesIn(tx, first.org_id, -reserved)
    await store.deleteCollections(tx, repoId)
    return 0
  },
]
