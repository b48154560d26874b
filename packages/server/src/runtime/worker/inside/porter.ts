// The one part of a workerd process that the server talks to. It finds or loads the isolate of a module, hands it what is
// to be run, and lets its calls out to the server for as long as the run lasts. It shares a thread with modules, and
// nothing else: what it is given by them is text, or is refused.
//
// What it prints reaches the server at once, also when the thread never comes back from what it does next.

import { collectEvery } from './collecting.ts'
import type { CallStub, Wrapper } from './stubs.ts'

interface Env {
  LOADER: {
    get(key: string, code: () => Promise<Record<string, unknown>>): { getEntrypoint(): Wrapper }
  }
  HOST: { fetch(url: string, init?: RequestInit): Promise<Response> }
  WRAPPER: string
  COMPATIBILITY: { date: string; flags: string[] }
}

/** Calls of one run that are on their way at once. More wait; too many that wait are refused. */
const CALLS_AT_ONCE = 16
const CALLS_WAITING = 1_000

const collect = collectEvery(200)
const say = console.log.bind(console)
/** What tells a run that it is to end. */
const aborts = new Map<string, (reason: string) => void>()

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, verb, token = '', key = ''] = new URL(request.url).pathname.split('/')
    if (verb === 'run') return run({ token, key, order: await request.text() }, env)
    if (verb === 'abort') {
      aborts.get(token)?.(await request.text())
      // Whoever is cut off after this has no other way to be forgotten.
      aborts.delete(token)
    }
    return new Response()
  },
}

async function run({ token, key, order }: { token: string; key: string; order: string }, env: Env) {
  const aborted = Promise.withResolvers<string>()
  aborts.set(token, aborted.resolve)
  const calls = callsOf(token, env)
  say(`begun ${token}`)
  try {
    const isolate = env.LOADER.get(key, async () => ({
      mainModule: 'wrapper.js',
      modules: { 'wrapper.js': env.WRAPPER, 'module.js': await moduleOf(key, env) },
      compatibilityDate: env.COMPATIBILITY.date,
      compatibilityFlags: env.COMPATIBILITY.flags,
      // Null: nothing of the network. What is not given here is not there.
      globalOutbound: null,
      env: {},
    }))
    const answer = await isolate.getEntrypoint().perform(order, calls.call, () => aborted.promise)
    if (typeof answer !== 'string') throw new TypeError('The module has replaced what reports for it')
    return new Response(answer)
  } catch (error) {
    return new Response(String(error instanceof Error ? error.message : error), { status: 500 })
  } finally {
    calls.end()
    aborts.delete(token)
    say(`ended ${token}`)
    collect()
  }
}

async function moduleOf(key: string, { HOST }: Env): Promise<string> {
  const response = await HOST.fetch(`http://host/module/${key}`)
  if (!response.ok) throw new Error(`The server has no module ${key}`)
  return response.text()
}

function callsOf(token: string, { HOST }: Env): { call: CallStub; end(): void } {
  const waiting: (() => void)[] = []
  let underWay = 0
  let isLive = true
  return {
    async call(asked: unknown) {
      if (typeof asked !== 'string') throw new TypeError('A call is made of text')
      if (asked === '') return ''
      if (waiting.length >= CALLS_WAITING) throw new Error('Too many calls at once')
      if (underWay >= CALLS_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
      if (!isLive) throw new Error('The run has ended')
      underWay++
      try {
        const response = await HOST.fetch(`http://host/call/${token}`, { method: 'POST', body: asked })
        return await response.text()
      } finally {
        underWay--
        waiting.shift()?.()
      }
    },
    end() {
      isLive = false
    },
  }
}
