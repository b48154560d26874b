import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { CheckpointMessage } from './checkpoints.ts'

/** As many pages as SQLite waits for by itself. */
const WORTH_WRITING = 1_000
/** 32 MiB. */
const WORTH_STARTING_OVER = 8_000

interface Log {
  /** Pages in the log, and how many of them are in the file. */
  log: number
  checkpointed: number
}

const db = new DatabaseSync(workerData.path, { timeout: 0 })
db.exec('pragma synchronous = full')
function run(mode: 'noop' | 'passive' | 'full'): Log {
  const { log, checkpointed } = db.prepare(`pragma wal_checkpoint(${mode})`).get() ?? {}
  return { log: Number(log), checkpointed: Number(checkpointed) }
}

function checkpoint(): void {
  const { log, checkpointed } = run('noop')
  if (log - checkpointed < WORTH_WRITING) return
  run('passive')
  // Writers begin the log again when they find that all of it is in the file, which they never would while they write
  // more. So, once in a while, they are kept out for what has come since.
  if (log >= WORTH_STARTING_OVER) run('full')
}

parentPort?.on('message', (message: CheckpointMessage) => {
  if (message === 'close') {
    db.close()
    parentPort?.close()
    return
  }
  checkpoint()
  parentPort?.postMessage('done')
})

parentPort?.postMessage('done')
