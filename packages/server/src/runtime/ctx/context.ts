// The second argument of a module, made from one function that asks the host. Everything in this folder runs unchanged
// inside a workerd isolate and inside Node, beside a module that may do whatever it likes to what it is given: nothing
// here protects anybody. What a run may do is decided by the host, call by call.

import type { LogLine } from '../runtime.ts'
import { fetchThrough } from './fetching.ts'
import { lineOf } from './logging.ts'
import type { Step } from './steps.ts'

/**
 * Asks the host. Arguments and answers are JSON (an argument that was left out is null, or missing at the end); what the
 * host refuses is thrown with its `code` and `data`: see `errorFromWire`.
 */
export type Call = (method: string, args: readonly unknown[]) => Promise<unknown>

export interface ContextParts {
  call: Call
  log(line: LogLine): void
  capabilities: readonly string[]
  run: Readonly<Record<string, unknown>>
  secrets: Readonly<Record<string, string>>
  signal: AbortSignal
}

/** What a workflow has besides. Everything it asks the host goes through this `call`. */
interface Stepwise {
  step: Step
  call: Call
}

/** What is there by each capability, named as on the wire. Bytes are base64 there. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  'repo:read': [
    'repo.readText',
    'repo.readBytes',
    'repo.list',
    'repo.branches',
    'repo.tags',
    'repo.commits',
    'repo.compare',
  ],
  'repo:write': ['repo.commit', 'repo.createBranch', 'repo.deleteBranch', 'repo.createTag', 'repo.merge'],
  'records:read': ['records.get', 'records.list'],
  'records:write': ['records.create', 'records.update', 'records.delete'],
  'events:emit': ['events.emit'],
  'runs:dispatch': ['runs.dispatch'],
}

/** Whether a call is one that the capabilities allow: what the host asks before it does anything. */
export function isGranted(method: string, capabilities: readonly string[]): boolean {
  if (method === 'fetch') return capabilities.some(isNetwork)
  return capabilities.some((capability) => METHODS[capability]?.includes(method))
}

type Method = (...args: unknown[]) => Promise<unknown>

export function makeContext(parts: ContextParts, stepwise?: Stepwise) {
  const { log, capabilities, run, secrets } = parts
  const { call } = stepwise ?? parts
  const groups: Record<string, Record<string, Method>> = {}
  for (const name of capabilities.flatMap((capability) => METHODS[capability] ?? [])) {
    const [group = '', method = ''] = name.split('.')
    groups[group] ??= {}
    groups[group][method] = (...args) => call(name, args).then(ANSWERS[name])
  }
  return Object.freeze({
    run: frozen(structuredClone(run)),
    log: (message: unknown, data?: unknown) => log(lineOf('info', message, data)),
    /** Asked for when the module does: to listen for an end may cost something. */
    get signal() {
      return parts.signal
    },
    ...(capabilities.some(isSecret) && { secrets: Object.freeze({ ...secrets }) }),
    ...frozen(groups),
    ...(capabilities.some(isNetwork) && { fetch: fetchThrough(call) }),
    ...(stepwise && { step: Object.freeze({ ...stepwise.step }) }),
  })
}

const isNetwork = (capability: string) => capability.startsWith('net:')
const isSecret = (capability: string) => capability.startsWith('secret:')

const ANSWERS: Readonly<Record<string, (answer: unknown) => unknown>> = {
  'repo.readBytes': (answer) => (typeof answer === 'string' ? Uint8Array.fromBase64(answer) : null),
}

function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part)
  return Object.freeze(value)
}
