// One process and the runs of one organization in it, watched from outside: whether its thread still comes round, and
// how much memory it takes.

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

/** Why a process has ended, and by whose doing. Without anybody it is nobody's in it. */
interface Doom {
  guilty: Guest | undefined
  error: string
}

export interface House extends Workerd {
  readonly orgId: string
  readonly guests: ReadonlyMap<string, Guest>
  /** The isolates it has. */
  readonly keys: Set<string>
  /** Runs that are in it, or on their way to it. */
  seats: number
  /** Runs that it was given so far. */
  served: number
  /** Takes no more runs. */
  isLeaving: boolean
  readonly isStuck: boolean
  /** Known when it has ended. */
  readonly doom: Doom | undefined
  enter(guest: Guest): void
  leave(guest: Guest): void
  /** Who most likely has the thread, or has taken the memory. */
  suspect(): Guest | undefined
  end(doom: Doom): void
}

interface HouseOptions {
  orgId: string
  directory: string
  command: readonly string[]
  memoryMb: number
  callCharacters: number
  startMs: number
  idleMs: number
  /** When it comes round again after it was stuck. */
  onUnstuck(): void
}

export async function openHouse(options: HouseOptions): Promise<House> {
  const { orgId, directory, memoryMb, callCharacters, idleMs, onUnstuck } = options
  const guests = createGuests({
    callCharacters,
    onNonsense: () => end({ guilty: suspect(), error: 'It flooded the process it ran in' }),
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

  function suspect(): Guest | undefined {
    let latest: Guest | undefined
    for (const guest of guests.present.values())
      if (guest.isBegun && guest.activeAt >= (latest?.activeAt ?? 0)) latest = guest
    return latest
  }

  function end(why: Doom): void {
    doom ??= why
    // So that it is gone soon.
    if (greed.isGreedy) workerd.setGreedy(false)
    workerd.kill()
  }

  function look(): void {
    if (guests.present.size === 0) lookAtIdle()
    else {
      lookAtMemory()
      lookAtThread()
      greed.look(isStuck)
    }
  }

  function lookAtMemory(): void {
    const begun = [...guests.present.values()].filter(({ isBegun }) => isBegun).length
    if ((workerd.memoryMb() ?? 0) > OVERHEAD_MB + memoryMb * Math.max(1, begun))
      end({ guilty: suspect(), error: `It used more than ${memoryMb} MB of memory` })
  }

  function lookAtThread(): void {
    if (askedAt === undefined) {
      askedAt = performance.now()
      void workerd.answers().then(() => {
        askedAt = undefined
        if (!isStuck) return
        isStuck = false
        onUnstuck()
      })
    } else if (!isStuck && performance.now() - askedAt > STUCK_MS) {
      isStuck = true
      for (const guest of guests.present.values()) if (!guest.isBegun) guest.withdraw()
    } else if (isStuck) {
      // A step may wait for long. To have the thread for itself all that time is something else.
      const guest = suspect()
      if (guest && performance.now() - askedAt > STUCK_MS + guest.job.timeoutMs)
        end({ guilty: guest, error: tookLonger(guest.job) })
    }
  }

  function lookAtIdle(): void {
    const now = workerd.cpuMs()
    const worked = now === undefined || cpuMs === undefined ? 0 : now - cpuMs
    const isTooLarge = (workerd.memoryMb() ?? 0) > OVERHEAD_MB
    if (performance.now() - idleSince > idleMs || worked > IDLE_CPU_MS || isTooLarge || isStuck) {
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
      return { guilty: suspect(), error: `It used more than ${memoryMb} MB of memory` }
    if (how === 'SIGKILL') return { guilty: undefined, error: 'Its process was ended from outside' }
    return { guilty: suspect(), error: `Its process ended with ${how}` }
  }

  watchEvery(IDLE_LOOK_MS)
  const exited = workerd.exited.then(async (exit): Promise<Exit> => {
    doom ??= verdict(exit)
    await close()
    hasExited = true
    for (const guest of guests.present.values()) guest.onExit()
    return exit
  })

  const house: House = {
    ...workerd,
    exited,
    orgId,
    guests: guests.present,
    keys: new Set(),
    seats: 0,
    served: 0,
    isLeaving: false,
    get isStuck() {
      return isStuck
    },
    get doom() {
      return doom
    },
    enter(guest) {
      guests.present.set(guest.token, guest)
      if (hasExited) guest.onExit()
      if (guests.present.size > 1) return
      greed.begin()
      watchEvery(LOOK_MS)
    },
    leave(guest) {
      guests.present.delete(guest.token)
      if (guests.present.size === 0) {
        idleSince = performance.now()
        cpuMs = workerd.cpuMs()
        watchEvery(IDLE_LOOK_MS)
        if (greed.isGreedy) house.isLeaving = true
      }
    },
    suspect,
    end,
  }
  return house
}
