// Stands beside the author's module in its process, and calls it. The module can do to it what it likes, and gains
// nothing: it knows no more than the run it is in, which is the module's own.

import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { Socket } from 'node:net'
import { createBlank } from '../../ctx/blanking.ts'
import type { Call } from '../../ctx/context.ts'
import { errorFromWire } from '../../ctx/errors.ts'
import { boundedLog, consoleFor } from '../../ctx/logging.ts'
import { type Performance, perform } from '../../ctx/perform.ts'
import { DESCRIPTORS, type Order, type Said, type Told } from './messages.ts'

const { parse, stringify } = JSON
const exit = process.exit.bind(process)
const calls = new Map<number, PromiseWithResolvers<unknown>>()
const aborted = new AbortController()
const unhandled = Promise.withResolvers<never>()
/** Keeps the process only as long as an answer is waited for. */
const told = new Socket({ fd: DESCRIPTORS.told, readable: true, writable: false })
let numberOfCalls = 0
/** Whoever has the signal may wait for it alone, and that it is aborted is told here. */
let isSignalWanted = false

/** Waits until it is written: what was said is not lost, however the process ends then. */
function say(said: Said): void {
  const bytes = Buffer.from(`${stringify(said)}\n`)
  for (let at = 0; at < bytes.length; ) at += writeSync(DESCRIPTORS.said, bytes, at)
}

const call: Call = (method, args) => {
  const id = ++numberOfCalls
  const answer = Promise.withResolvers<unknown>()
  calls.set(id, answer)
  told.ref()
  try {
    say({ call: id, method, args })
  } catch (error) {
    // What cannot be written as JSON.
    calls.delete(id)
    answer.reject(error)
  }
  return answer.promise.finally(() => {
    if (calls.size === 0 && !isSignalWanted) told.unref()
  })
}

function hear(message: Told): void {
  if ('order' in message) void work(message.order)
  else if ('abort' in message) aborted.abort(new DOMException(message.abort, 'AbortError'))
  else {
    const answer = calls.get(message.call)
    calls.delete(message.call)
    if ('error' in message) answer?.reject(errorFromWire(message.error))
    else answer?.resolve(message.value)
  }
}

async function work(order: Order): Promise<void> {
  told.unref()
  const log = boundedLog(order.log, createBlank(Object.values(order.secrets)), (line) => say({ log: line }))
  globalThis.console = consoleFor(log)
  process.on('uncaughtException', unhandled.reject)
  process.on('unhandledRejection', unhandled.reject)
  process.on('beforeExit', () =>
    end({ kind: 'ended', error: 'It waits for something that can never happen' }),
  )
  end(
    await perform({
      ...order,
      call,
      log,
      get signal() {
        isSignalWanted = true
        told.ref()
        return aborted.signal
      },
      load: () => load(order.code),
      unhandled: unhandled.promise,
      settled: () => new Promise((resolve) => setImmediate(resolve)),
    }),
  )
}

function end(performance: Performance): void {
  say({ done: performance })
  exit(performance.kind === 'returned' ? 0 : 1)
}

/** As if it were a file beside this one. */
async function load(code: string): Promise<{ default?: unknown }> {
  const url = new URL('module.js', import.meta.url).href
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === url ? { url, format: 'module', shortCircuit: true } : next(specifier, context),
    load: (given, context, next) =>
      given === url ? { format: 'module', source: code, shortCircuit: true } : next(given, context),
  })
  try {
    return (await import(url)) as { default?: unknown }
  } finally {
    hooks.deregister()
  }
}

let line = ''
told.setEncoding('utf8')
told.on('data', (text: string) => {
  const lines = text.split('\n')
  lines[0] = line + lines[0]
  line = lines.pop() ?? ''
  for (const one of lines) hear(parse(one) as Told)
})
// There is no server any more.
told.on('end', () => exit(1))
say({ ready: true })
