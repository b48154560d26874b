// Control groups, where the server may make some: the kernel then holds all processes of a run to their limits together.
// There are two versions, and a machine may have parts of both.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

interface GroupLimits {
  /** What the kernel lets processes have: their own memory, and what they have written. */
  memoryBytes: number
  processes: number
}

/** What has been counted so far. What is not counted here is undefined. */
interface Counted {
  memoryBytes: number | undefined
  wasOutOfMemory: boolean
  wasOutOfProcesses: boolean
}

/** The control groups of one run. */
export interface Group {
  /** A process that writes 0 into them is in it, with all that it starts. */
  joinFiles: readonly string[]
  count(): Promise<Counted>
  /** From now on whatever else wants the processors goes first. */
  giveWay(): Promise<void>
  /** When its processes have ended. */
  remove(): Promise<void>
}

export interface ControlGroups {
  countsMemory: boolean
  countsProcesses: boolean
  open(limits: GroupLimits): Promise<Group>
  /** Removes what servers left that were killed. */
  sweep(): Promise<void>
}

/** The last has no limit here: a group gets the share of one, however many processes are in it. */
type Controller = 'memory' | 'pids' | 'cpu'

/** A directory in which groups can be made, and what they count. */
interface Place {
  version: 1 | 2
  path: string
  controllers: Controller[]
}

const PREFIX = 'trellis-sandbox-'
/** Younger ones may be somebody's who has not joined yet. */
const LEFT_AFTER_MS = 60_000
const REMOVE_TRIES = 50
const REMOVE_MS = 20

export async function findControlGroups(root = '/'): Promise<ControlGroups> {
  const places: Place[] = []
  for (const place of await candidates(root)) {
    const known = places.flatMap(({ controllers }) => controllers)
    const controllers = place.controllers.filter((controller) => !known.includes(controller))
    if (controllers.length === 0) continue
    const usable = { ...place, controllers }
    if (await canMakeGroups(usable)) places.push(usable)
  }
  const counts = (controller: Controller) =>
    places.some(({ controllers }) => controllers.includes(controller))
  return {
    countsMemory: counts('memory'),
    countsProcesses: counts('pids'),
    open: (limits) => openGroup(places, limits),
    async sweep() {
      for (const { path } of places)
        for (const name of await readdir(path).catch(() => []))
          if (name.startsWith(PREFIX)) await removeIfLeft(join(path, name))
    },
  }
}

async function openGroup(places: readonly Place[], limits: GroupLimits): Promise<Group> {
  const name = `${PREFIX}${randomBytes(8).toString('hex')}`
  const made = places.map((place) => ({ ...place, path: join(place.path, name) }))
  const remove = async () => void (await Promise.all(made.map(({ path }) => removeGroup(path))))
  try {
    for (const place of made) await makeGroup(place, limits)
  } catch (error) {
    await remove()
    throw error
  }
  return {
    joinFiles: made.map(({ path }) => join(path, 'cgroup.procs')),
    count: () => count(made),
    giveWay: () => giveWay(made),
    remove,
  }
}

async function makeGroup({ version, path, controllers }: Place, limits: GroupLimits): Promise<void> {
  const set = (file: string, value: string | number) => writeFile(join(path, file), String(value))
  await mkdir(path)
  if (controllers.includes('pids')) await set('pids.max', limits.processes)
  if (!controllers.includes('memory')) return
  await set(version === 1 ? 'memory.limit_in_bytes' : 'memory.max', limits.memoryBytes)
  // Where there is no swap there is no such file.
  const swap = version === 1 ? 'memory.memsw.limit_in_bytes' : 'memory.swap.max'
  await set(swap, version === 1 ? limits.memoryBytes : 0).catch(() => {})
}

/** A tenth of what one gets that has just begun. */
const LITTLE = { 1: ['cpu.shares', '102'], 2: ['cpu.weight', '10'] } as const

async function giveWay(places: readonly Place[]): Promise<void> {
  for (const { version, path, controllers } of places) {
    const [file, share] = LITTLE[version]
    // May be missing from what was handed over.
    if (controllers.includes('cpu')) await writeFile(join(path, file), share).catch(() => {})
  }
}

async function count(places: readonly Place[]): Promise<Counted> {
  const counted: Counted = { memoryBytes: undefined, wasOutOfMemory: false, wasOutOfProcesses: false }
  for (const { version, path, controllers } of places) {
    const read = (file: string) => readFile(join(path, file), 'latin1').catch(() => '')
    if (controllers.includes('pids'))
      counted.wasOutOfProcesses = numberAt(await read('pids.events'), 'max') > 0
    if (!controllers.includes('memory')) continue
    const [own, ended] = version === 1 ? ['rss', 'memory.oom_control'] : ['anon', 'memory.events']
    counted.memoryBytes = numberAt(await read('memory.stat'), own)
    counted.wasOutOfMemory = numberAt(await read(ended), 'oom_kill') > 0
  }
  return counted
}

const numberAt = (text: string, name: string) =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)

/** Processes that have ended may be counted for a moment longer. */
async function removeGroup(path: string): Promise<void> {
  for (let tries = 0; tries < REMOVE_TRIES; tries++) {
    const error = await rmdir(path).catch((error: NodeJS.ErrnoException) => error)
    if (error?.code !== 'EBUSY') return
    await delay(REMOVE_MS)
  }
}

async function removeIfLeft(path: string): Promise<void> {
  const made = await stat(path).catch(() => undefined)
  if (made && Date.now() - made.mtimeMs > LEFT_AFTER_MS) await rmdir(path).catch(() => {})
}

async function canMakeGroups(place: Place): Promise<boolean> {
  const { version, path } = place
  try {
    // Refused where processes are in that very group, as the rules of the second version are.
    if (version === 2) {
      const handOn = (names: string) => writeFile(join(path, 'cgroup.subtree_control'), names)
      // May be missing from what was handed over.
      await handOn('+cpu').catch(() => {})
      await handOn('+memory +pids')
    }
    const group = await openGroup([place], { memoryBytes: 2 ** 30, processes: 100 })
    await group.remove()
    return true
  } catch {
    return false
  }
}

/** Where this process is, or beside it, in what systemd has handed over: `DelegateSubgroup=` puts a server into a group below. */
async function candidates(root: string): Promise<Place[]> {
  const read = (file: string) => readFile(join(root, file), 'utf8').catch(() => '')
  const own = (await read('proc/self/cgroup')).trim().split('\n')
  const mounts = (await read('proc/self/mountinfo')).trim().split('\n').map(mountOf)
  return own.flatMap((line): Place[] => {
    const [, names = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    const version = names === '' ? 2 : 1
    const controllers =
      version === 2 ? ALL : ALL.filter((controller) => names.split(',').includes(controller))
    const mount = mounts.find(
      ({ type, options }) =>
        type === (version === 2 ? 'cgroup2' : 'cgroup') &&
        (version === 2 || controllers.some((controller) => options.includes(controller))),
    )
    if (!mount || controllers.length === 0) return []
    const below = path.startsWith(mount.root) ? path.slice(mount.root === '/' ? 0 : mount.root.length) : path
    const here = join(root, mount.point, below)
    const beside = version === 2 && /\.(service|scope)$/.test(basename(dirname(here))) ? [dirname(here)] : []
    return [here, ...beside].map((path) => ({ version, path, controllers }))
  })
}

const ALL: Controller[] = ['memory', 'pids', 'cpu']

function mountOf(line: string) {
  const [before = '', after = ''] = line.split(' - ')
  const [, , , root = '', point = ''] = before.split(' ')
  const [type = '', , options = ''] = after.split(' ')
  return { root, point, type, options: options.split(',') }
}
