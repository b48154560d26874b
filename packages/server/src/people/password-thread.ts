import { scryptSync } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { KeyRequest } from './passwords.ts'

/** The cost better-auth chose. What was kept with it must open with it. */
const COST = { N: 16_384, r: 16, p: 1, maxmem: 128 * 16_384 * 16 * 2 }
const KEY_BYTES = 64

// On this thread, and on none that others use.
parentPort?.on('message', ({ password, salt }: KeyRequest) => {
  parentPort?.postMessage(scryptSync(password.normalize('NFKC'), salt, KEY_BYTES, COST).toString('hex'))
})
