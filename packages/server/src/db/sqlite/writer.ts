import { TurnShare } from '../../platform/turn-share.ts'
import type { SqliteConnection, SqliteResult } from './connection.ts'
import type { LogSync } from './log-sync.ts'

/** At most this many transactions share a commit, so that the first of them does not wait for ever. */
const GROUP_SIZE = 64

/** How long transactions may go on in one turn of the event loop, after which everybody else comes to theirs. */
const SHARE_MS = 1

/** What is committed is written to it, and comes to the disk later. */
type Log = Pick<LogSync, 'whenSynced' | 'requireSound'>

/** SQLite gave up a group because of another transaction in it. By itself this one may well succeed. */
export class GroupLost extends Error {}

/** What transactions that were waiting in line at the same time have in common. */
interface Group {
  members: number
  /** When it is on the disk. */
  committed: PromiseWithResolvers<void>
}

/**
 * Lets transactions write one after the other. Those that come in the same turn of the event loop, or wait when one is
 * done, go into the same SQLite transaction, each but the first in a savepoint of its own: it can still be rolled back
 * alone, but what they all change is written once. Each is told it has committed only when all of them have and are on
 * the disk; the next may write meanwhile.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection
  readonly #log: Log
  readonly #onRun: (sql: string) => void
  readonly #onCommitted: () => void
  readonly #waiting: (() => void)[] = []
  readonly #share = new TurnShare(SHARE_MS, () => this.#waiting.length)
  #busy = false
  /** Whoever has the turn waits for the event loop, and has not begun. */
  #pausing = false
  #group: Group | undefined
  #endOfTurn: NodeJS.Immediate | undefined

  constructor(
    connection: SqliteConnection,
    log: Log,
    { onRun, onCommitted }: { onRun(sql: string): void; onCommitted(): void },
  ) {
    this.#connection = connection
    this.#log = log
    this.#onRun = onRun
    this.#onCommitted = onCommitted
  }

  /** Waits for its turn to write. The turn must be ended, with `commit` or `rollback`. */
  async begin(): Promise<WriterTurn> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy = true
    const pause = this.#share.take()
    if (pause) await this.#pause(pause)
    try {
      this.#log.requireSound()
      if (!this.#group) {
        // Taking the write lock first means a transaction never has to give up half way.
        await this.#connection.whenFree('begin immediate')
        this.#group = { members: 0, committed: Promise.withResolvers() }
        // Whoever waits for the commit hears of its failure; with nobody waiting there is nobody to tell.
        this.#group.committed.promise.catch(() => {})
      }
      // There is nothing before the first that would have to stay.
      if (this.#group.members > 0) this.#connection.run('savepoint member')
    } catch (error) {
      this.#endTurn(error)
      throw error
    }
    return new WriterTurn(this, this.#connection, this.#group)
  }

  async #pause(pause: Promise<void>): Promise<void> {
    this.#pausing = true
    await pause
    this.#pausing = false
    if (this.#group) this.#commit(this.#group)
  }

  /** @internal */
  run(sql: string, parameters: readonly unknown[]): SqliteResult {
    this.#onRun(sql)
    return this.#connection.run(sql, parameters)
  }

  /** @internal */
  endMember(): void {
    if (this.#group) this.#group.members += 1
    this.#endTurn()
  }

  /** Commits what waits for others to join it, unless one of them is under way and will see to it. */
  flush(): void {
    clearImmediate(this.#endOfTurn)
    this.#endOfTurn = undefined
    if (this.#group && (!this.#busy || this.#pausing)) this.#commit(this.#group)
  }

  #endTurnOfLoop(): void {
    this.#endOfTurn = undefined
    if (this.#group && !this.#busy) this.#commit(this.#group)
  }

  /** Hands the turn on. The group ends when nobody else has come by the end of the turn, or something broke it. */
  #endTurn(error?: unknown): void {
    const group = this.#group
    try {
      if (group && (error || !this.#connection.inTransaction)) this.#abandon(group, error)
      else if (group && group.members >= GROUP_SIZE) this.#commit(group)
      else if (group && this.#waiting.length === 0)
        this.#endOfTurn ??= setImmediate(() => this.#endTurnOfLoop())
    } finally {
      // Those who wait are served even by a database that has been closed: they hear that it is.
      this.#busy = this.#waiting.length > 0
      this.#waiting.shift()?.()
    }
  }

  #commit(group: Group): void {
    try {
      this.#connection.run('commit')
    } catch (error) {
      this.#abandon(group, error)
      return
    }
    this.#group = undefined
    this.#onCommitted()
    this.#log.whenSynced().then(group.committed.resolve, group.committed.reject)
  }

  /** On a full or broken disk SQLite may have rolled back everything by itself. */
  #abandon(group: Group, error: unknown): void {
    if (this.#connection.inTransaction) this.#connection.run('rollback')
    this.#group = undefined
    group.committed.reject(error ?? new GroupLost('SQLite gave up the transaction'))
  }
}

/** One transaction's time at the writer. */
export class WriterTurn {
  readonly #writer: SqliteWriter
  readonly #connection: SqliteConnection
  readonly #group: Group
  readonly #isFirst: boolean
  #ended = false

  constructor(writer: SqliteWriter, connection: SqliteConnection, group: Group) {
    this.#writer = writer
    this.#connection = connection
    this.#group = group
    this.#isFirst = group.members === 0
  }

  run(sql: string, parameters: readonly unknown[]): SqliteResult {
    // It would join somebody else's transaction.
    if (this.#ended) throw new Error('The transaction has ended')
    // It would be kept, whatever becomes of the rest.
    if (!this.#connection.inTransaction) throw new GroupLost('SQLite gave up the transaction')
    return this.#writer.run(sql, parameters)
  }

  /** Resolves when the change is on disk. */
  async commit(): Promise<void> {
    this.#end(...(this.#isFirst ? [] : ['release member']))
    await this.#group.committed.promise
  }

  rollback(): void {
    // After a commit that failed there is nothing left to roll back.
    if (this.#ended) return
    this.#end(...(this.#isFirst ? ['rollback'] : ['rollback to member', 'release member']))
  }

  #end(...statements: string[]): void {
    this.#ended = true
    try {
      if (this.#connection.inTransaction) for (const statement of statements) this.#connection.run(statement)
    } finally {
      this.#writer.endMember()
    }
  }
}
