import type { Run } from '@trellis/contract'
import type { CreateDatabase } from './databases.ts'
import { createInProcessRuntime } from './in-process-runtime.ts'
import { useInSuite } from './in-suite.ts'
import { type Answer, startTestApp, type TestApp } from './test-app.ts'

interface Extension {
  /** What its descriptor says beside version and name. */
  declares?: object
  /** The body of its function, which is given `input` and `ctx`. */
  does: string
}

/** A Trellis whose extensions run in the process of the test, and somebody who has an organization there. */
export interface RunsWorld {
  app: TestApp
  token: string
  jobs: ReturnType<typeof createInProcessRuntime>['jobs']
  call(path: string, input?: object): Promise<Answer>
  ok(path: string, input?: object): Promise<Answer['body']>
  /** A new repository with these extensions, promoted. */
  repo(name: string, extensions: Record<string, Extension>): Promise<void>
  /** Commits files to a branch. */
  commit(name: string, files: Record<string, string>, branch?: string): Promise<string>
  /** Runs an extension to its end. */
  run(name: string, extension: string, input?: unknown, ref?: string): Promise<Run>
  /** Waits for a run. */
  ended(id: string): Promise<Run>
  /** Waits until a repository has so many runs and all have ended, and gives them, the oldest first. */
  runsOf(name: string, count: number): Promise<Run[]>
  /** The log of a run, as `type` and, for lines, what they say. */
  log(id: string): Promise<string[]>
}

export const useRuns = (create: CreateDatabase, env: Record<string, string> = {}): RunsWorld =>
  useInSuite(async (made) => {
    const database = made.use(await create())
    const runtime = createInProcessRuntime()
    const app = made.use(
      await startTestApp(database, env, { runtimes: { worker: runtime, workflow: runtime } }),
    )
    const { token } = await app.signUp('ana')
    return worldOf(app, token, runtime.jobs)
  })

/** The same for another person, or another process over the same database. */
export function worldOf(app: TestApp, token: string, jobs: RunsWorld['jobs'] = []): RunsWorld {
  const call: RunsWorld['call'] = (path, input = {}) => app.call(path, input, { token })
  const ok: RunsWorld['ok'] = async (path, input) => {
    const { status, body } = await call(path, input)
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body
  }
  const commit: RunsWorld['commit'] = async (name, files, branch = 'main') => {
    const changes = Object.entries(files).map(([path, content]) => ({ op: 'put', path, content }))
    return (await ok('git/commits/create', { name, branch, message: 'Change', changes })).oid
  }
  const ended: RunsWorld['ended'] = async (id) => {
    for (const late = Date.now() + 120_000; ; ) {
      const { run } = await ok('runs/get', { id, waitMs: 20_000 })
      if (run.endedAt !== null) return run
      if (Date.now() > late) throw new Error(`${id} is still ${run.status}`)
    }
  }
  return {
    app,
    token,
    jobs,
    call,
    ok,
    commit,
    ended,
    async repo(name, extensions) {
      await ok('repos/create', { name })
      await commit(name, filesOf(extensions))
      await ok('extensions/promote', { name })
    },
    async run(name, extension, input = {}, ref) {
      const { run } = await ok('runs/dispatch', { name, extension, input, ...(ref && { ref }) })
      return ended(run.id)
    },
    async runsOf(name, count) {
      for (const until = Date.now() + 120_000; Date.now() < until; ) {
        const { items } = await ok('runs/list', { name, limit: 100 })
        const going = items.find((run: Run) => run.endedAt === null)
        if (going) await ended(going.id)
        else if (items.length >= count) return items.reverse()
      }
      throw new Error(`${name} does not come to ${count} runs`)
    },
    async log(id) {
      const { items } = await ok('runs/logs', { id, limit: 250 })
      return items.map(({ type, payload }: { type: string; payload: { message: string } }) =>
        type === 'run.log' ? `${type} ${payload.message}` : type,
      )
    },
  }
}

/** The files of extensions, by path. */
export const filesOf = (extensions: Record<string, Extension>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(extensions).flatMap(([name, { declares, does }]) => [
      [
        `extensions/${name}/extension.json`,
        JSON.stringify({ version: 1, name, dispatch: true, ...declares }),
      ],
      [`extensions/${name}/index.ts`, `export default async (input: any, ctx: any) => { ${does} }\n`],
    ]),
  )
