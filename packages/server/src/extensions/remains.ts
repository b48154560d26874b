import type { RemoveSome } from '../repos/remains.ts'
import * as store from './store.ts'

/** What is canonical goes with the repository. What was built does not belong to one. */
export const extensionRemains: readonly RemoveSome[] = [store.deleteSomeCanonical]
