// Stands beside the author's module in its isolate, and calls it. The module can do to it what it likes, and gains
// nothing: it knows no more than the run it is in, which is the module's own.

import { WorkerEntrypoint } from 'cloudflare:workers'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createBlank } from '../../ctx/blanking.ts'
import type { Call } from '../../ctx/context.ts'
import { type CallAnswer, errorFromWire } from '../../ctx/errors.ts'
import { boundedLog, consoleFor, type LogBounds } from '../../ctx/logging.ts'
import { perform } from '../../ctx/perform.ts'
import { makeTimeRepeatable } from '../../ctx/repeatable.ts'
import type { LogLine } from '../../runtime.ts'
import { collectEvery } from './collecting.ts'
import type { CallStub } from './stubs.ts'
import { hearUncaught } from './uncaught.ts'

/** What the server wants run, as JSON. */
export interface Order {
  /** Known to the server and the porter, and to whoever is in this isolate at the time. */
  token: string
  runId: string
  input: unknown
  run: Readonly<Record<string, unknown>>
  capabilities: readonly string[]
  secrets: Readonly<Record<string, string>>
  startedAt?: number
  log: LogBounds
  outputCharacters: number
}

/** One of the runs that are in this isolate. */
interface Current {
  log(line: LogLine): void
  unhandled(reason: unknown): void
}

const { parse, stringify } = JSON
/** Reaches the server at once, whatever the module does next. */
const print = console.log.bind(console)
const collect = collectEvery(200)
const speaking = new AsyncLocalStorage<Current>()
const all = new Set<Current>()
let isTimeRepeatable = false

/** Who is speaking; when nobody knows, it can only be the one who is here. */
function current(): Current | undefined {
  const [one] = all
  return speaking.getStore() ?? (all.size === 1 ? one : undefined)
}

globalThis.console = consoleFor((line) => current()?.log(line))
hearUncaught((thrown) => current()?.unhandled(thrown))

class Wrapper extends WorkerEntrypoint {
  async perform(text: string, stub: CallStub, aborted: () => Promise<string>): Promise<string> {
    const order = parse(text) as Order
    if (order.startedAt !== undefined && !isTimeRepeatable) {
      isTimeRepeatable = true
      makeTimeRepeatable()
    }
    const unhandled = Promise.withResolvers<never>()
    const here: Current = {
      log: boundedLog(order.log, createBlank(Object.values(order.secrets)), (line) =>
        print(`log ${order.token} ${stringify(line)}`),
      ),
      unhandled: unhandled.reject,
    }
    const signal = signalOf(aborted)
    all.add(here)
    try {
      const performance = speaking.run(here, () =>
        perform({
          ...order,
          call: callThrough(stub),
          log: here.log,
          get signal() {
            return signal()
          },
          load: () => import('./module.js' as string),
          unhandled: unhandled.promise,
          // Nothing is asked: it takes a turn, in which a rejection that was left alone shows. A timer would take longer.
          settled: async () => void (await stub('')),
        }),
      )
      return stringify(await performance)
    } finally {
      all.delete(here)
      collect()
    }
  }
}

export { Wrapper as default }

const callThrough =
  (stub: CallStub): Call =>
  async (method, args) => {
    const answer = parse(await stub(stringify([method, args]))) as CallAnswer
    if ('error' in answer) throw errorFromWire(answer.error)
    return answer.value
  }

/** To wait for an end is something that is under way, and only a module that asks for the signal should have it. */
function signalOf(aborted: () => Promise<string>): () => AbortSignal {
  let controller: AbortController | undefined
  return () => {
    if (controller) return controller.signal
    const made = new AbortController()
    controller = made
    aborted().then(
      (reason) => made.abort(new DOMException(reason, 'AbortError')),
      () => {},
    )
    return made.signal
  }
}
