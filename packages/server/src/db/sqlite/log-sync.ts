import { close, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { DatabaseUnavailable } from '../../platform/outages.ts'
import { createSharedRuns } from '../../platform/shared-runs.ts'
import { noted } from '../refusals.ts'

const syncInThread = promisify(fdatasync)
const closeInThread = promisify(close)

/**
 * Brings the log of a database to the disk. SQLite would do that in every commit, and the whole process would wait as long
 * as the disk takes. Here a thread waits, once for everything that was committed before it began.
 */
export class LogSync {
  readonly #path: string
  readonly #syncData: (descriptor: number) => Promise<void>
  readonly #onFailure: (error: unknown) => void
  readonly #shareSync = createSharedRuns((path: string) => this.#sync(path))
  #last: Promise<void> | undefined
  #descriptor: number | undefined
  #failure: { error: unknown } | undefined

  constructor(
    databasePath: string,
    {
      onFailure,
      syncData = syncInThread,
    }: {
      onFailure(error: unknown): void
      syncData?(descriptor: number): Promise<void>
    },
  ) {
    this.#path = `${databasePath}-wal`
    this.#onFailure = onFailure
    this.#syncData = syncData
  }

  /** Resolves when everything that has been committed is on the disk. */
  whenSynced(): Promise<void> {
    const sync = this.#shareSync(this.#path)
    this.#last = sync
    const end = () => {
      if (this.#last === sync) this.#last = undefined
    }
    sync.then(end, end)
    return sync
  }

  /** The last of those that are still waited for. */
  get underWay(): Promise<void> | undefined {
    return this.#last
  }

  /**
   * Throws once a sync has failed. What was written can still be read then, but may never come to the disk, and the next
   * sync would not tell: only what a new start finds can be believed.
   */
  requireSound(): void {
    if (!this.#failure) return
    const message = 'The database cannot be used until the server is started again'
    throw noted(new DatabaseUnavailable(message, { cause: this.#failure.error }))
  }

  async close(): Promise<void> {
    await this.#last?.catch(() => {})
    if (this.#descriptor !== undefined) await closeInThread(this.#descriptor)
    this.#descriptor = undefined
  }

  async #sync(path: string): Promise<void> {
    this.requireSound()
    try {
      // It is the same file as long as a connection is open.
      this.#descriptor ??= openSync(path, 'r')
      await this.#syncData(this.#descriptor)
    } catch (error) {
      this.#failure = { error }
      this.#onFailure(error)
      this.requireSound()
    }
  }
}
