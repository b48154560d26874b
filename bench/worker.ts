import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempDisposable, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Job } from '../packages/server/src/runtime/runtime.ts'
import { findConfinement } from '../packages/server/src/runtime/worker/confinement.ts'
import { createWorkerRuntime } from '../packages/server/src/runtime/worker/worker-runtime.ts'
import { ask } from './ask.ts'
import { inTurns, median, milliseconds, type Row } from './measure.ts'

const ROUNDS = 7
const CALLS = 200
const NEVER = new AbortController().signal
const CODE = 'export default (input) => input'

/** One run after the other of a module that is loaded, against calls of a worker that workerd runs by itself. */
export const workerWarm = () =>
  withBoth(async ({ run, direct }) => {
    const each = (call: () => Promise<unknown>) => async () => {
      const times: number[] = []
      for (let index = 0; index < CALLS; index++) times.push(await timed(call))
      return median(times)
    }
    await run({})
    return row(
      'a run of a loaded module',
      'a call of bare workerd',
      await inTurns(
        ROUNDS,
        each(() => run({})),
        each(direct),
      ),
    )
  })

/** A module that no process has seen. */
export const workerColdModule = () =>
  withBoth(async ({ run }) => {
    let modules = 0
    await run({})
    const { ours, theirs } = await inTurns(
      ROUNDS * 5,
      () => timed(() => run({ code: `${CODE} // ${++modules}` })),
      () => timed(() => run({})),
    )
    return row('a run of a module never seen', 'a run of a loaded one', { ours, theirs })
  })

/** An organization that has no process. */
export const workerColdProcess = () =>
  withBoth(async ({ run }) => {
    let orgs = 0
    await run({ orgId: 'org_first' })
    const bare = await inTurns(
      ROUNDS,
      () => timed(() => run({ orgId: `org_${++orgs}` })),
      async () => {
        await using workerd = await startBare()
        return workerd.startedMs
      },
    )
    return row('a run in a process of its own', 'bare workerd from start to answer', bare)
  })

const row = (work: string, peer: string, { ours, theirs }: { ours: number; theirs: number }): Row => ({
  work,
  peer,
  ours: milliseconds(ours),
  theirs: milliseconds(theirs),
  ratio: theirs / ours,
})

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

interface Both {
  run(what: { code?: string; orgId?: string }): Promise<void>
  direct(): Promise<string>
}

async function withBoth(measure: (both: Both) => Promise<Row>): Promise<Row> {
  const confinement = await findWorkerd()
  await using directory = await mkdtempDisposable(join(tmpdir(), 'trellis-bench-'))
  await using bare = await startBare()
  const runtime = createWorkerRuntime({
    directory: directory.path,
    ...confinement,
    ...{ processes: 100, processesPerOrg: 1, modulesPerProcess: 1_000 },
    ...{
      memoryMb: 128,
      callCharacters: 1e6,
      startMs: 30_000,
      idleMs: 60_000,
      waitMs: 30_000,
      graceMs: 1_000,
    },
    ...{ outputCharacters: 1e6, inputCharacters: 1e6 },
    log: { lines: 1_000, characters: 1e6, lineCharacters: 8_000 },
  })
  try {
    return await measure({
      direct: () => bare.call(),
      async run({ code = CODE, orgId = 'org_1' }) {
        const job: Job = {
          ...{
            runId: 'run_1',
            orgId,
            repoId: 'repo_1',
            input: { n: 1 },
            run: {},
            capabilities: [],
            secrets: {},
          },
          module: { hash: code, code, sourceMap: undefined },
          timeoutMs: 30_000,
        }
        const outcome = await runtime.run(job, { call: async () => null, log: () => {} }, NEVER)
        if (outcome.kind !== 'returned') throw new Error(JSON.stringify(outcome))
      },
    })
  } finally {
    await runtime.close()
  }
}

const CONFIG = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main.js", esModule = "export default { fetch: async (request) => Response.json(await request.json()) }")],
    compatibilityDate = "2026-08-01"))],
  sockets = [(name = "in", address = "unix:in.sock", http = (), service = "main")],
);`

async function findWorkerd() {
  const found = await findConfinement()
  if ('reason' in found) throw new Error(found.reason)
  return found
}

/** workerd with nothing of ours around it. */
export async function startBare() {
  const directory = await mkdtempDisposable(join(tmpdir(), 'trellis-bench-'))
  await writeFile(join(directory.path, 'config.capnp'), CONFIG)
  const agent = new Agent({ keepAlive: true })
  const socketPath = join(directory.path, 'in.sock')
  const call = () => ask({ socketPath, path: '/', agent }, '{"n":1}')
  const { workerd } = await findWorkerd()
  const began = performance.now()
  const child: ChildProcess = spawn(workerd, ['serve', '--control-fd=3', 'config.capnp'], {
    cwd: directory.path,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  await new Promise((resolve) => child.stdio[3]?.once('data', resolve))
  await call()
  return {
    startedMs: performance.now() - began,
    call,
    async [Symbol.asyncDispose]() {
      agent.destroy()
      child.kill('SIGKILL')
      await rm(directory.path, { recursive: true, force: true })
    },
  }
}
