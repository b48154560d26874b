import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUnruly } from '../unruly.ts'
import { commandFor } from './confinement.ts'
import { type House, openHouse } from './house.ts'
import { configOf, FILES, SOCKETS } from './settings.ts'

export interface PoolOptions {
  /** Where processes have their sockets. Nobody else may look into it. */
  directory: string
  workerd: string
  bubblewrap: string | undefined
  /** Processes in all, and of one organization. */
  processes: number
  processesPerOrg: number
  /** After so many isolates a process is replaced: they stay until it ends. */
  modulesPerProcess: number
  memoryMb: number
  callCharacters: number
  startMs: number
  idleMs: number
  /** How long a run waits for a place. */
  waitMs: number
}

/** What has happened so far, for whoever counts. */
export interface PoolCounts {
  started: number
  failedStarts: number
  /** Ended because of what was in them. */
  killed: number
  /** Isolates that were loaded. */
  loaded: number
}

/**
 * What the kernel counts of a process of workerd before it does anything, most of it never used, is another on every
 * machine: 500 MB here, 540 there. One that may have this much tells, before the first run.
 */
const UNKNOWN_DATA_MB = 2048
/**
 * What it comes to have by running anything, and what lies between the look from outside and the kernel's bound: there V8
 * collects garbage for as long as there is any to find before it gives up.
 */
const WORKING_DATA_MB = 128
/**
 * What V8 may have of its own more than a run: it tries long and hard to stay below its bound, so that is the last resort
 * and the look from outside comes first.
 */
const HEAP_MARGIN_MB = 128
/** A little is left of every run, whatever is done about it: then a process is replaced. */
const RUNS_PER_PROCESS = 5_000
/** Longest path of a socket, everywhere. */
const SOCKET_PATH_BYTES = 100

interface Wanted {
  orgId: string
  key: string
}

interface Waiter extends Wanted {
  resolve(house: Promise<House>): void
}

/** There is no process to be had, now or at all. */
export class NoProcess extends Error {
  override readonly name = 'NoProcess'
}

/** Processes of workerd, each of one organization. */
export function createPool(options: PoolOptions, sources: () => Promise<Record<string, string>>) {
  const { processes, processesPerOrg, modulesPerProcess, waitMs } = options
  const counts: PoolCounts = { started: 0, failedStarts: 0, killed: 0, loaded: 0 }
  const houses = new Set<House>()
  /** Of those that are about to be houses, the organizations. */
  const opening: string[] = []
  const openings = new Set<Promise<unknown>>()
  const waiters = new Set<Waiter>()
  const unruly = createUnruly()
  /** Somebody who waits will be looked at again. */
  let idleDataMb: number | undefined
  let isResting = false
  let isClosed = false

  const takes = (house: House) => !house.isLeaving && !house.isStuck && house.doom === undefined
  const ofOrg = (orgId: string) => [...houses].filter((house) => house.orgId === orgId && !house.isLeaving)
  const isFull = () => houses.size + opening.length >= processes

  /** One that has nobody, and the module if there is such a one. */
  function choose({ orgId, key }: Wanted): House | undefined {
    const free = ofOrg(orgId).filter((house) => takes(house) && !house.isTaken)
    return free.find(({ keys }) => keys.has(key)) ?? free[0]
  }

  /** A process that is there or will be. */
  function place(wanted: Wanted): Promise<House> | undefined {
    const house = choose(wanted)
    if (house) {
      house.isTaken = true
      return Promise.resolve(house)
    }
    const own = ofOrg(wanted.orgId).length + opening.filter((id) => id === wanted.orgId).length
    if (own >= processesPerOrg || isFull()) return undefined
    const restMs = unruly.restMs(wanted.orgId)
    if (restMs > 0) {
      if (!isResting) setTimeout(serveRested, restMs + 1).unref()
      isResting = true
      return undefined
    }
    unruly.started(wanted.orgId)
    const opened = open(wanted.orgId)
    const settled = opened.catch(() => {}).finally(() => openings.delete(settled))
    openings.add(settled)
    return opened
  }

  async function start(orgId: string, dataMb: number): Promise<House> {
    const directory = await makeDirectory(options.directory)
    const files = {
      ...(await sources()),
      [FILES.config]: configOf({ heapMb: options.memoryMb + HEAP_MARGIN_MB }),
    }
    for (const [name, text] of Object.entries(files))
      await writeFile(join(directory, name), text, { mode: 0o600 })
    const command = commandFor(options, directory, Math.ceil(dataMb))
    return openHouse({ ...options, orgId, directory, command, isBehind: unruly.isBehind(orgId) })
  }

  /** Of a process in which nothing ever runs: it may have more than any module should. */
  async function measureIdle(orgId: string): Promise<number> {
    const house = await start(orgId, UNKNOWN_DATA_MB)
    const dataMb = house.dataMb() ?? UNKNOWN_DATA_MB
    house.kill()
    await house.exited
    return dataMb
  }

  async function open(orgId: string): Promise<House> {
    opening.push(orgId)
    try {
      idleDataMb ??= await measureIdle(orgId)
      const house = await start(orgId, idleDataMb + WORKING_DATA_MB + options.memoryMb)
      counts.started++
      houses.add(house)
      void house.exited.then(() => {
        if (house.doom?.isGuilty) {
          counts.killed++
          unruly.ended(orgId)
        }
        houses.delete(house)
        serve()
      })
      if (isClosed) house.kill()
      return house
    } catch (error) {
      counts.failedStarts++
      throw new NoProcess(`workerd could not be started: ${error instanceof Error ? error.message : error}`)
    } finally {
      opening.splice(opening.indexOf(orgId), 1)
      serve()
    }
  }

  function serveRested(): void {
    isResting = false
    serve()
  }

  /** Gives what has come free to those who wait, the first first. */
  function serve(): void {
    for (const waiter of waiters) {
      const house = place(waiter)
      if (house) {
        waiters.delete(waiter)
        waiter.resolve(house)
      } else makeRoom()
    }
  }

  /**
   * Whoever waits and has no process gets the place of one that nobody uses, or else of one whose organization has the
   * most, when the run in it has ended.
   */
  function makeRoom(): void {
    const all = [...houses]
    const served = new Set(all.filter(({ isLeaving }) => !isLeaving).map(({ orgId }) => orgId))
    const without = new Set([...waiters].map(({ orgId }) => orgId)).difference(served).size
    const leaving = all.filter(({ isLeaving }) => isLeaving)
    const idle = all.find((house) => takes(house) && !house.isTaken)
    const ending = leaving.filter(({ isTaken }) => !isTaken).length + opening.length
    if (!isFull() || without <= ending || (!idle && without <= leaving.length + opening.length)) return
    const count = ({ orgId }: House) => ofOrg(orgId).length
    const [ofMost] = all.filter(takes).toSorted((one, other) => count(other) - count(one))
    const chosen = idle ?? ofMost
    if (!chosen) return
    chosen.isLeaving = true
    if (idle) idle.kill()
  }

  async function wait(wanted: Wanted, signal: AbortSignal): Promise<House> {
    const { promise, resolve, reject } = Promise.withResolvers<House>()
    const waiter: Waiter = { ...wanted, resolve }
    const giveUp = () => {
      // At once: what comes free in this moment is to be somebody else's.
      waiters.delete(waiter)
      reject(new NoProcess('No process came free'))
    }
    const timer = setTimeout(giveUp, waitMs)
    signal.addEventListener('abort', giveUp, { once: true })
    waiters.add(waiter)
    makeRoom()
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
      waiters.delete(waiter)
    }
  }

  return {
    counts,
    get processes() {
      return houses.size
    },
    get isolates() {
      return [...houses].reduce((sum, { keys }) => sum + keys.size, 0)
    },
    get waiting() {
      return waiters.size
    },

    /** A process, to be given back. Rejects with NoProcess. */
    async take(wanted: Wanted, signal: AbortSignal): Promise<House> {
      if (isClosed) throw new NoProcess('The server is stopping')
      const house = await (place(wanted) ?? wait(wanted, signal))
      house.served++
      if (house.served >= RUNS_PER_PROCESS) house.isLeaving = true
      if (house.keys.has(wanted.key)) return house
      house.keys.add(wanted.key)
      counts.loaded++
      // They stay until it ends, so a process is replaced now and then.
      if (house.keys.size >= modulesPerProcess) house.isLeaving = true
      return house
    },

    giveBack(house: House): void {
      house.isTaken = false
      if (house.isLeaving) house.kill()
      serve()
    },

    async close(): Promise<void> {
      isClosed = true
      for (const house of houses) house.kill()
      await Promise.all(openings)
      await Promise.all([...houses].map(({ exited }) => exited))
    },
  }
}

/** Only as deep as the path of a socket may be long. */
async function makeDirectory(parent: string): Promise<string> {
  const isShort = Buffer.byteLength(join(parent, 'p-XXXXXX', SOCKETS.out)) <= SOCKET_PATH_BYTES
  return mkdtemp(isShort ? join(parent, 'p-') : join(tmpdir(), 'trellis-worker-'))
}
