import type { OutgoingHttpHeaders } from 'node:http'
import { API_PREFIX } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { Fault, forbidden } from '../fault.ts'
import { addressKey, isLoopback } from './address.ts'
import type { Authenticate } from './authenticate.ts'
import { readJson } from './body.ts'
import { notFound, wrongMethod } from './envelope.ts'
import { type Exchange, sendJson } from './exchange.ts'
import type { Operation } from './operations.ts'
import type { RateLimit } from './rate-limit.ts'

export interface ApiDeps {
  operations: Map<string, Operation>
  authenticate: Authenticate
  rateLimit: RateLimit
  bodyBytes: number
  /** Whether every answer is held against the contract: in tests, where it may cost time. */
  checkOutput: boolean
}

/**
 * The door of all operations: who is calling, then whether the input is right, then the handler, which asks what
 * exists and what is allowed.
 */
export function createApi({ operations, authenticate, rateLimit, bodyBytes, checkOutput }: ApiDeps) {
  function countAgainstAddress({ address }: Exchange): void {
    if (!isLoopback(address)) rateLimit.take(`address:${addressKey(address)}`)
  }

  async function admit(exchange: Exchange): Promise<Caller | undefined> {
    let caller: Caller | undefined
    try {
      caller = await authenticate(exchange.request.headers)
    } catch (error) {
      countAgainstAddress(exchange)
      throw error
    }
    if (!caller) countAgainstAddress(exchange)
    else {
      exchange.credentialId = caller.credential.id
      rateLimit.take(caller.credential.id)
    }
    return caller
  }

  return async (exchange: Exchange, headers?: OutgoingHttpHeaders): Promise<void> => {
    const { request, requestId, address, path } = exchange
    const operation = operations.get(path.slice(API_PREFIX.length))
    if (!operation || request.method !== 'POST') {
      countAgainstAddress(exchange)
      if (!operation) throw notFound()
      exchange.route = operation.path
      throw wrongMethod('POST')
    }
    exchange.route = operation.path

    const { admission } = operation.meta
    const visitor = await admit(exchange)
    if (!visitor && admission !== 'anyone') throw new Fault('UNAUTHENTICATED', {})
    const input = operation.parseInput(await readJson(request, bodyBytes))
    if (admission === 'session' && visitor?.credential.kind !== 'session') throw forbidden('scope_missing')

    const output = await operation.handle(input, {
      visitor,
      get caller() {
        if (!visitor) throw new Fault('UNAUTHENTICATED', {})
        return visitor
      },
      requestId,
      address,
    })
    if (checkOutput) operation.checkOutput(output)
    sendJson(exchange, 200, output, headers)
  }
}
