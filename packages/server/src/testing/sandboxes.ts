// For tests of the sandbox: one that works on this machine, with bubblewrap installed where that is possible.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createPlaces } from '../platform/places.ts'
import type { Host, Job, LogLine, Outcome } from '../runtime/runtime.ts'
import { findControlGroups } from '../runtime/sandbox/cgroups.ts'
import { findSandbox, type Sandbox } from '../runtime/sandbox/find.ts'
import { createSandboxRuntime, type SandboxRuntime } from '../runtime/sandbox/sandbox-runtime.ts'
import { useInSuite } from './in-suite.ts'

export const SANDBOX_LIMITS = {
  ...{ startMs: 60_000, graceMs: 1_000, openFiles: 256 },
  ...{ memoryMb: 200, diskMb: 32, processes: 60, treeBytes: 2 ** 30, trees: 10 },
  ...{ outputCharacters: 2_000, callCharacters: 10_000, writtenBytes: 2 ** 20 },
  log: { lines: 100, characters: 10_000, lineCharacters: 500 },
}

/** What the bodies of modules find. */
const IMPORTS = `
  import { spawn, spawnSync, execFileSync } from 'node:child_process'
  import fs from 'node:fs'
  import net from 'node:net'
  import os from 'node:os'
  const tried = async (what) => { try { return await what() } catch (error) { return error.code ?? error.message } }
  const sh = (script) => spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
`

const APT = '/usr/bin/apt-get'
/** Another test process may be at it. */
const INSTALL = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', 'bubblewrap']

/** Where it cannot be installed, whoever looks for it next says so. */
export async function installBubblewrap(): Promise<void> {
  if (existsSync('/usr/bin/bwrap') || process.getuid?.() !== 0 || !existsSync(APT)) return
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' }
  await promisify(execFile)(APT, INSTALL, { env }).catch(() => {})
}

interface RunOptions extends Partial<Job> {
  on?: SandboxRuntime
  signal?: AbortSignal
  call?: Host['call']
  log?: Host['log']
}

/** Undefined where there is no sandbox: the test is skipped then, and says why. */
type Ran = Promise<{ outcome: Outcome; lines: LogLine[] } | undefined>

interface Sandboxes {
  /** Holds a file `private`. */
  directory: string
  /** Undefined where there is none. */
  sandbox: Sandbox | undefined
  runtime: SandboxRuntime
  /** Without control groups, and with a copy of the tree. */
  plain: SandboxRuntime
  run(t: TestContext, body: string, options?: RunOptions): Ran
}

/** Made before the tests of the suite it is called in, and removed after them. */
export const sandboxesInSuite = (): Sandboxes =>
  useInSuite(async (made) => {
    await installBubblewrap()
    const directory = await mkdtemp(join(tmpdir(), 'trellis sandbox,a=b:c-'))
    made.defer(() => rm(directory, { recursive: true, force: true }))
    await writeFile(join(directory, 'private'), 'of the server')
    const sandbox = await findSandbox({ directory: join(directory, 'one'), hidden: [] })
    const groups = await findControlGroups('/nonexistent')
    const other = await findSandbox({ directory: join(directory, 'two'), hidden: [], groups })
    if (!sandbox.available || !other.available) return withoutSandbox(directory, sandbox)
    const runtimeOf = (sandbox: Sandbox) => {
      const checkOut = (_: unknown, tree: string) => writeTree(tree, directory)
      const runtime = createSandboxRuntime({ ...SANDBOX_LIMITS, sandbox, checkOut })
      made.defer(() => runtime.close())
      return runtime
    }
    const runtime = runtimeOf(sandbox)
    const plain = runtimeOf({ ...other, confinement: { ...other.confinement, view: 'copy' } })
    const run: Sandboxes['run'] = (_t, body, options = {}) => runModule(options.on ?? runtime, body, options)
    return { directory, sandbox, runtime, plain, run }
  })

function withoutSandbox(directory: string, found: Awaited<ReturnType<typeof findSandbox>>): Sandboxes {
  const run: Sandboxes['run'] = async (t) =>
    void t.skip(found.available ? 'It works only in part' : found.reason)
  return { directory, run } as Sandboxes
}

/** Tests of a suite run all at once. */
const places = createPlaces({ size: 8, maxWaitMs: 300_000 })

async function runModule(runtime: SandboxRuntime, body: string, options: RunOptions): Ran {
  using _place = await places.acquire({ id: randomBytes(4).toString('hex') })
  const { on, signal = new AbortController().signal, call = async () => null, log, ...job } = options
  const code = `${IMPORTS}\nexport default async function (input, ctx) {\n${body}\n}`
  const lines: LogLine[] = []
  const outcome = await runtime.run(
    {
      ...{ runId: 'run_1', orgId: randomBytes(4).toString('hex'), repoId: 'repo_1', input: {} },
      module: { hash: randomBytes(4).toString('hex'), code, sourceMap: undefined },
      ...{
        tree: 'a'.repeat(40),
        run: { commitSha: 'a'.repeat(40) },
        capabilities: [],
        secrets: {},
        timeoutMs: 60_000,
      },
      ...job,
    },
    {
      call,
      log(line) {
        lines.push(line)
        log?.(line)
      },
    },
    signal,
  )
  return { outcome, lines }
}

async function writeTree(tree: string, directory: string): Promise<void> {
  await mkdir(join(tree, 'folder'))
  await writeFile(join(tree, 'folder/file'), 'committed')
  await symlink(join(directory, 'private'), join(tree, 'link'))
  await symlink('../../../../../../etc/shadow', join(tree, 'up'))
}
