import type { RemoveSome } from '../repos/remains.ts'
import * as store from './store.ts'

export const secretRemains: readonly RemoveSome[] = [store.deleteAll]
