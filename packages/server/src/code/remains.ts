import type { RemoveSome } from '../repos/remains.ts'
import * as abandoned from './abandoned-tips.ts'
import * as refStore from './ref-store.ts'
import * as store from './store.ts'

/** What code keeps of a repository. Its packs go when nobody lists them any more. */
export const codeRemains: readonly RemoveSome[] = [
  refStore.deleteSomeRefs,
  store.deleteSomePackEntries,
  abandoned.deleteSome,
]
