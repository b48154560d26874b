import type { RemoveSome } from '../repos/remains.ts'
import { deleteOf } from './store.ts'

export const daemonRemains: readonly RemoveSome[] = [
  async (tx, repoId) => {
    await deleteOf(tx, repoId)
    return 0
  },
]
