import type {
  AnyContractProcedure,
  ContractProcedure,
  ErrorMap,
  InferSchemaInput,
  InferSchemaOutput,
} from '@orpc/contract'
import type { Contract, OperationMeta } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'

/** What a handler knows of the request beside its input. */
export interface Call {
  /** Who is calling, on operations that need to know. */
  caller: Caller
  /** Who is calling, or undefined for a stranger on operations open to anyone. */
  visitor: Caller | undefined
  requestId: string
  address: string
  /** The address limits are counted against; undefined for callers they do not apply to. */
  limitedAddress: string | undefined
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal
  /** The cookie by which somebody without an account is known again. */
  anonymous: { secret: string | undefined; remember(secret: string): void }
}

type Handler<P> =
  P extends ContractProcedure<infer I, infer O, ErrorMap, OperationMeta>
    ? (input: InferSchemaOutput<I>, call: Call) => Promise<InferSchemaInput<O>>
    : never

/** Handlers in the shape of the contract. An operation without one is absent from the server. */
export type Handlers<C = Contract> = C extends AnyContractProcedure
  ? Handler<C>
  : { [K in keyof C]?: Handlers<C[K]> }

interface HandlerTree {
  [key: string]: HandlerTree | Handler<AnyContractProcedure>
}

/** The handlers of several domains as those of one. Two for the same operation are a mistake. */
export function mergeHandlers(all: readonly Handlers[]): Handlers {
  const merged: HandlerTree = {}
  for (const handlers of all) mergeInto(merged, handlers as HandlerTree, [])
  return merged as Handlers
}

function mergeInto(merged: HandlerTree, handlers: HandlerTree, keys: string[]): void {
  for (const [key, value] of Object.entries(handlers)) {
    const path = [...keys, key]
    const existing = merged[key]
    if (existing === undefined) merged[key] = typeof value === 'function' ? value : { ...value }
    else if (typeof existing === 'function' || typeof value === 'function')
      throw new Error(`Two domains handle ${path.join('/')}`)
    else mergeInto(existing, value, path)
  }
}
