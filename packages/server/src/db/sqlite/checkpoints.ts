import { Worker } from 'node:worker_threads'
import type { SqliteConnection } from './connection.ts'

export type CheckpointMessage = 'look' | 'close'

/** Where less is written there is no need of a thread. */
const COMMITS_BEFORE_THREAD = 500
const COMMITS_BETWEEN_LOOKS = 8
/** Of pages: SQLite's own, and what it may come to should the thread not keep up. */
const WITHOUT_THREAD = 1_000
const WITH_THREAD = 20_000

/**
 * What is committed goes into a log, and from there, every now and then, into the file. SQLite does so in the commit
 * that makes the log too long, and the pages of many commits take many times as long to write as those of one, which
 * everybody waits for. A thread with a connection of its own writes them beside what goes on.
 */
export class Checkpoints {
  readonly #path: string
  readonly #connection: SqliteConnection
  readonly #commitsBeforeThread: number
  #commits = 0
  #thread: Worker | undefined
  #isBusy = false

  constructor(
    path: string,
    connection: SqliteConnection,
    { commitsBeforeThread = COMMITS_BEFORE_THREAD }: { commitsBeforeThread?: number } = {},
  ) {
    this.#path = path
    this.#connection = connection
    this.#commitsBeforeThread = commitsBeforeThread
  }

  committed(): void {
    this.#commits += 1
    if (this.#commits === this.#commitsBeforeThread) this.#start()
    if (!this.#thread || this.#isBusy || this.#commits % COMMITS_BETWEEN_LOOKS !== 0) return
    this.#isBusy = true
    this.#thread.postMessage('look' satisfies CheckpointMessage)
  }

  /** Before the connection: whoever closes last empties the log. */
  async close(): Promise<void> {
    const thread = this.#thread
    if (!thread) return
    this.#thread = undefined
    thread.ref()
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    thread.postMessage('close' satisfies CheckpointMessage)
    await ended
  }

  #start(): void {
    const thread = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
      workerData: { path: this.#path },
    })
    this.#thread = thread
    this.#isBusy = true
    thread.unref()
    thread.once('message', () => this.#connection.run(`pragma wal_autocheckpoint = ${WITH_THREAD}`))
    thread.on('message', () => {
      this.#isBusy = false
    })
    // The disk may be full. SQLite takes care of it, and says so; after as many commits there is another thread.
    thread.once('error', () => {
      if (this.#thread !== thread) return
      this.#thread = undefined
      this.#commits = 0
      this.#connection.run(`pragma wal_autocheckpoint = ${WITHOUT_THREAD}`)
    })
  }
}
