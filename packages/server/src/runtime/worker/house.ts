// One process and the run that is in it, watched from outside: whether its thread still comes round, and how much memory
// it takes.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createGreed } from './greed.ts'
import { createGuests, type Guest } from './guests.ts'
import { tookLonger } from './outcomes.ts'
import { SOCKETS } from './settings.ts'
import { type Exit, startWorkerd, type Workerd } from './workerd.ts'

/** How often a process that has runs is looked at, and one that has none. */
const LOOK_MS = 100
const IDLE_LOOK_MS = 1_000
/** A thread that has not come round for so long is in somebody's hands. */
const STUCK_MS = 1_000
/** What a process may work since its last run: something may be left over that was never to end. */
const IDLE_CPU_MS = 200
/** What workerd has before any module asks for some. */
const OVERHEAD_MB = 128

/** Why a process has ended, and whether by what is in it. */
interface Doom {
  isGuilty: boolean
  error: string
}

export interface House extends Workerd {
  readonly orgId: string
  /** The isolates it has. */
  readonly keys: Set<string>
  /** A run is in it, or on its way to it. */
  isTaken: boolean
  /** Runs that it was given so far. */
  served: number
  /** Takes no more runs. */
  isLeaving: boolean
  readonly isStuck: boolean
  /** Known when it has ended. */
  readonly doom: Doom | undefined
  enter(guest: Guest): void
  leave(): void
  end(doom: Doom): void
}

interface HouseOptions {
  orgId: string
  directory: string
  command: readonly string[]
  memoryMb: number
  callCharacters: number
  startMs: number
  /** Those who run there have had processes ended: from its start others go first. */
  isBehind: boolean
  idleMs: number
}

export async function openHouse(options: HouseOptions): Promise<House> {
  const { orgId, directory, memoryMb, callCharacters, idleMs } = options
  const guests = createGuests({
    callCharacters,
    onNonsense: () => end({ isGuilty: hasBegun(), error: 'It flooded the process it ran in' }),
  })
  const close = async (): Promise<void> => {
    clearInterval(watch)
    guests.close()
    await rm(directory, { recursive: true, force: true })
  }
  let watch: NodeJS.Timeout | undefined
  let doom: Doom | undefined
  let askedAt: number | undefined
  let isStuck = false
  let hasExited = false
  let idleSince = performance.now()
  let cpuMs: number | undefined

  await guests.listen(join(directory, SOCKETS.out))
  const workerd = await startWorkerd({ ...options, hear: guests.hear }).catch(async (error: unknown) => {
    await close()
    throw error
  })

  const greed = createGreed(workerd)

  const hasBegun = () => guests.present?.isBegun ?? false

  function end(why: Doom): void {
    doom ??= why
    // So that it is gone soon.
    if (greed.isGreedy) workerd.setGreedy(false)
    workerd.kill()
  }

  function look(): void {
    if (!guests.present) lookAtIdle()
    else {
      lookAtMemory()
      lookAtThread()
      greed.look(isStuck)
    }
  }

  /** More than it had before any module asked for some: it is a run's, and would be held against the next. */
  const hasLeftOver = () => (workerd.memoryMb() ?? 0) > OVERHEAD_MB

  function lookAtMemory(): void {
    if ((workerd.memoryMb() ?? 0) > OVERHEAD_MB + memoryMb)
      end({ isGuilty: hasBegun(), error: `It used more than ${memoryMb} MB of memory` })
  }

  function lookAtThread(): void {
    if (askedAt === undefined) {
      askedAt = performance.now()
      void workerd.answers().then(() => {
        askedAt = undefined
        isStuck = false
      })
    } else if (!isStuck && performance.now() - askedAt > STUCK_MS) {
      isStuck = true
      if (!hasBegun()) guests.present?.withdraw()
    } else if (isStuck) {
      // A step may wait for long. To have the thread for itself all that time is something else.
      const guest = guests.present
      if (guest?.isBegun && performance.now() - askedAt > STUCK_MS + guest.job.timeoutMs)
        end({ isGuilty: true, error: tookLonger(guest.job) })
    }
  }

  function lookAtIdle(): void {
    const now = workerd.cpuMs()
    const worked = now === undefined || cpuMs === undefined ? 0 : now - cpuMs
    if (performance.now() - idleSince > idleMs || worked > IDLE_CPU_MS || hasLeftOver() || isStuck) {
      house.isLeaving = true
      workerd.kill()
    }
  }

  function watchEvery(ms: number): void {
    clearInterval(watch)
    watch = setInterval(look, ms).unref()
  }

  /** Of a process that nobody here has ended. */
  function verdict({ how, said }: Exit): Doom {
    if (/out of memory|Cannot allocate memory/.test(said))
      return { isGuilty: hasBegun(), error: `It used more than ${memoryMb} MB of memory` }
    if (how === 'SIGKILL') return { isGuilty: false, error: 'Its process was ended from outside' }
    return { isGuilty: hasBegun(), error: `Its process ended with ${how}` }
  }

  watchEvery(IDLE_LOOK_MS)
  const exited = workerd.exited.then(async (exit): Promise<Exit> => {
    doom ??= verdict(exit)
    await close()
    hasExited = true
    guests.present?.onExit()
    return exit
  })

  const house: House = {
    ...workerd,
    exited,
    orgId,
    keys: new Set(),
    isTaken: true,
    served: 0,
    isLeaving: false,
    get isStuck() {
      return isStuck
    },
    get doom() {
      return doom
    },
    enter(guest) {
      guests.enter(guest)
      if (hasExited) guest.onExit()
      greed.begin()
      watchEvery(LOOK_MS)
    },
    leave() {
      guests.leave()
      idleSince = performance.now()
      cpuMs = workerd.cpuMs()
      watchEvery(IDLE_LOOK_MS)
      if (greed.isGreedy || hasLeftOver()) house.isLeaving = true
    },
    end,
  }
  return house
}
