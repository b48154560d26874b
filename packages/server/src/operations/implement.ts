import {
  type AnyContractProcedure,
  type AnySchema,
  type ContractProcedure,
  type ErrorMap,
  type InferSchemaOutput,
  isContractProcedure,
} from '@orpc/contract'
import { contract, type Issue, type OperationMeta } from '@trellis/contract'
import type * as z from 'zod'
import { Fault } from '../platform/fault.ts'
import { shapeWords } from '../platform/shape-words.ts'
import type { Call, Handlers } from './handlers.ts'

/** An operation as the dispatcher runs it. */
export interface Operation {
  path: string
  meta: OperationMeta
  parseInput(body: unknown): unknown
  /** Throws on an answer the contract does not allow: a bug. */
  checkOutput(output: unknown): void
  /** Throws on a failure that the contract does not declare for it: a bug. */
  checkFailure(error: unknown): void
  handle(input: unknown, call: Call): Promise<unknown>
}

export const allOperations = (): { path: string; procedure: AnyContractProcedure }[] => walk(contract, [])

/** The operations that have a handler, by path. */
export function implement(handlers: Handlers): Map<string, Operation> {
  const operations = new Map<string, Operation>()
  for (const { path, procedure } of allOperations()) {
    const handler = path
      .slice(1)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], handlers)
    if (typeof handler !== 'function') continue
    const { inputSchema, outputSchema, errorMap, meta } = procedure['~orpc']
    operations.set(path, {
      path,
      meta: meta as OperationMeta,
      parseInput: (body) => parseInput(inputSchema, body),
      checkOutput: (output) => checkOutput(outputSchema, output),
      checkFailure: (error) => {
        if (error instanceof Fault && !(error.code in errorMap))
          throw new Error(`${path} does not declare ${error.code}`, { cause: error })
      },
      handle: handler as Operation['handle'],
    })
  }
  return operations
}

/** The input of an operation, for whoever does what it does by other ways. Throws BAD_REQUEST. */
export const parseInputOf = <P extends AnyContractProcedure>(procedure: P, body: unknown): InputOf<P> =>
  parseInput(procedure['~orpc'].inputSchema, body) as InputOf<P>

type InputOf<P> =
  P extends ContractProcedure<infer I, infer _O, ErrorMap, OperationMeta> ? InferSchemaOutput<I> : never

function walk(node: unknown, keys: string[]): { path: string; procedure: AnyContractProcedure }[] {
  if (isContractProcedure(node)) return [{ path: `/${keys.join('/')}`, procedure: node }]
  return Object.entries(node as object).flatMap(([key, child]) => walk(child, [...keys, key]))
}

const MAX_ISSUES = 100

function parseInput(schema: AnySchema | undefined, body: unknown): unknown {
  // No body says the same as an empty one.
  const given = body === undefined ? {} : body
  let result = validate(schema, given)
  if ('issues' in result && dropNulls(given, result.issues)) result = validate(schema, given)
  if ('value' in result) return result.value
  const issues = result.issues.slice(0, MAX_ISSUES)
  const more = result.issues.length - issues.length
  throw new Fault('BAD_REQUEST', {
    issues: more > 0 ? [...issues, { message: `and ${more} more problems` }] : issues,
  })
}

/**
 * Null in an optional field says the same as leaving it out. Looked for only where something is wrong, so that a null that
 * means something stays. Says whether there was any.
 */
function dropNulls(given: unknown, issues: readonly Issue[]): boolean {
  let found = false
  for (const { path = [] } of issues) {
    const parent = path.slice(0, -1).reduce<unknown>(ownValue, given)
    const [key] = path.slice(-1)
    if (key === undefined || Array.isArray(parent) || ownValue(parent, key) !== null) continue
    delete (parent as Record<string, unknown>)[key]
    found = true
  }
  return found
}

const ownValue = (parent: unknown, key: string | number): unknown =>
  typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key)
    ? (parent as Record<string, unknown>)[key]
    : undefined

function checkOutput(schema: AnySchema | undefined, output: unknown): void {
  const result = validate(schema, output)
  if ('issues' in result) throw new Error(`The answer breaks the contract: ${JSON.stringify(result.issues)}`)
}

function validate(schema: AnySchema | undefined, value: unknown): { value: unknown } | { issues: Issue[] } {
  if (!schema) return { value }
  // oRPC takes schemas of any kind; those of the contract are zod's.
  const result = (schema as z.ZodType).safeParse(value, { error: shapeWords })
  if (result.success) return { value: result.data }
  const issues = result.error.issues.map(({ path, message }) => ({
    path: path.map((key) => (typeof key === 'number' ? key : String(key))),
    message,
  }))
  return { issues }
}
