import { errorFromWire, toldOf } from '../runtime/ctx/errors.ts'
import type { Host, Job, Outcome, Runtime } from '../runtime/runtime.ts'

/**
 * Runs modules in this process, without any protection: for tests of everything around a runtime. A module is ended by
 * its signal alone.
 */
export function createInProcessRuntime(): Runtime & { jobs: Job[] } {
  const jobs: Job[] = []
  return {
    jobs,
    async run(job, host, signal): Promise<Outcome> {
      jobs.push(job)
      const stop = AbortSignal.any([signal, AbortSignal.timeout(job.timeoutMs)])
      const ended = new Promise<Outcome>((resolve) => {
        stop.addEventListener('abort', () => resolve({ kind: 'ended', error: 'It was over its time' }))
      })
      return Promise.race([perform(job, host, stop), ended])
    },
    close: async () => {},
  }
}

async function perform(job: Job, host: Host, signal: AbortSignal): Promise<Outcome> {
  try {
    const module = await import(`data:text/javascript,${encodeURIComponent(job.module.code)}`)
    const output = await module.default(structuredClone(job.input), contextOf(job, host, signal))
    return { kind: 'returned', ...(output !== undefined && { output: JSON.parse(JSON.stringify(output)) }) }
  } catch (error) {
    const { name, message, stack } = error as Error
    return { kind: 'threw', error: `${name}: ${message}`, ...(stack && { stack }) }
  }
}

function contextOf(job: Job, host: Host, signal: AbortSignal) {
  const call = (method: string, args: unknown[]) =>
    host.call(method, args, signal).catch((error: unknown) => {
      throw errorFromWire(toldOf(error))
    })
  const group = (name: string) =>
    new Proxy(
      {},
      {
        get:
          (_target, method) =>
          (...args: unknown[]) =>
            call(`${name}.${String(method)}`, args),
      },
    )
  return {
    run: job.run,
    signal,
    secrets: job.secrets,
    log: (message: string, data?: unknown) => host.log({ level: 'info', message, data }),
    // Whatever was granted: what was not is refused by the host. Steps are told as runtimes do it: `step.begin`, `step.end`.
    ...Object.fromEntries(['repo', 'records', 'events', 'runs', 'step'].map((name) => [name, group(name)])),
    fetch: (url: string, init: object = {}) =>
      call('fetch', [{ method: 'GET', headers: [], redirect: 'follow', ...init, url }]),
  }
}
