// Whether this machine can run anything in a sandbox, and how. It is tried out, since what is installed may be refused
// what it needs.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { insideSource } from '../inside-source.ts'
import { type ControlGroups, findControlGroups } from './cgroups.ts'
import { type Confinement, commandFor, type Launch, makeSkeleton, SANDBOX_UID } from './command.ts'
import { systemCallFilter } from './syscalls.ts'

export interface Sandbox {
  available: true
  /** Where trees, runs and what is inside are. */
  directory: string
  /** The program that runs modules. */
  node: string
  confinement: Confinement
  groups: ControlGroups
  /** What is not for runs, wherever it may be. */
  hidden: readonly string[]
}

interface NoSandbox {
  available: false
  /** Why, and what to do about it. */
  reason: string
}

interface FindOptions {
  /** Of this process alone, and made if it is not there. */
  directory: string
  hidden: readonly string[]
  /** Where bubblewrap is looked for. */
  places?: readonly string[]
  /** Default: what the machine has. */
  groups?: ControlGroups
}

const PLACES = ['/usr/bin', '/usr/local/bin', '/bin']
const TRY_MS = 20_000
const TRY_LIMITS = { memoryMb: 512, diskBytes: 16 * 2 ** 20, processes: 64, openFiles: 256 }
/** The first that counts processes of a user in each namespace by itself. */
const COUNTING_KERNEL = [5, 14] as const

export async function findSandbox(options: FindOptions): Promise<Sandbox | NoSandbox> {
  const { directory, hidden, places = PLACES } = options
  const bubblewrap = places.map((place) => join(place, 'bwrap')).find(existsSync)
  if (!bubblewrap)
    return refused('bubblewrap is not installed. To turn it on: apt install bubblewrap, then start again')
  const { groups = await findControlGroups() } = options
  await prepare(directory, groups)
  const wrapper = await insideSource(join(import.meta.dirname, 'inside/wrapper.ts'))
  const help = await promisify(execFile)(bubblewrap, ['--help']).catch(() => ({ stdout: '' }))
  const basis = {
    bubblewrap,
    canEndNamespaces: help.stdout.includes('--disable-userns'),
    countsByNamespace: isKernelFrom(COUNTING_KERNEL),
  }
  let first: string | undefined
  for (const uid of possibleUids()) {
    await makeSkeleton(join(directory, 'skeleton'), wrapper, uid)
    for (const view of ['overlay', 'copy'] as const) {
      const sandbox: Sandbox = {
        ...{ available: true, directory, node: process.execPath, groups, hidden },
        confinement: { ...basis, uid, view },
      }
      const error = await tryOut(sandbox)
      if (error === undefined) return sandbox
      first ??= error
    }
  }
  return refused(
    `bubblewrap does not work here (${first}). It needs user namespaces: see "Sandbox" in docs/operations.md`,
  )
}

/**
 * Root gives up its number, since much in /proc and elsewhere goes by that alone. In a container it may not have another, and
 * is not root to the machine.
 */
function possibleUids(): (number | undefined)[] {
  if (process.getuid?.() !== 0) return [undefined]
  const isAllThere = /^\s*0\s+0\s+4294967295$/.test(readFileSync('/proc/self/uid_map', 'latin1').trimEnd())
  return isAllThere ? [SANDBOX_UID] : [SANDBOX_UID, undefined]
}

const refused = (reason: string): NoSandbox => ({ available: false, reason })

async function prepare(directory: string, groups: ControlGroups): Promise<void> {
  for (const name of ['runs', 'trees']) await mkdir(join(directory, name), { recursive: true, mode: 0o700 })
  await writeFile(join(directory, 'filter'), systemCallFilter({ isMemoryCounted: groups.countsMemory }))
  await groups.sweep()
}

/** Gives what went wrong. */
async function tryOut(sandbox: Sandbox): Promise<string | undefined> {
  const { directory, groups } = sandbox
  const run = await mkdtemp(join(directory, 'runs', 'try-'))
  const group = await groups.open({ memoryBytes: 2 ** 30, processes: TRY_LIMITS.processes })
  try {
    await mkdir(join(run, 'stage'))
    await mkdir(join(run, 'tree', 'folder'), { recursive: true })
    const launch: Launch = {
      ...sandbox,
      ...TRY_LIMITS,
      ...countedBy(groups),
      groups: group.joinFiles,
      run: `runs/${basename(run)}`,
      tree: `runs/${basename(run)}/tree`,
    }
    // With a layer that cannot remember that a folder was removed, this fails.
    const trial = 'rm -r folder && mkdir folder && touch folder/file && exec node --version'
    const { program, args, cwd, env } = commandFor(launch, ['/bin/sh', '-c', trial])
    await promisify(execFile)(program, args, { cwd, env, timeout: TRY_MS })
    return undefined
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    return (stderr.trim().split('\n').at(-1) || message).slice(0, 300)
  } finally {
    await group.remove()
    await rm(run, { recursive: true, force: true })
  }
}

export const countedBy = (groups: ControlGroups) => ({
  isMemoryCounted: groups.countsMemory,
  areProcessesCounted: groups.countsProcesses,
})

function isKernelFrom([major, minor]: readonly [number, number]): boolean {
  const [first = 0, second = 0] = release().split('.').map(Number)
  return first > major || (first === major && second >= minor)
}
