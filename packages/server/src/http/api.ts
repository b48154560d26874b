import type { OutgoingHttpHeaders } from 'node:http'
import { API_PREFIX } from '@trellis/contract'
import { Fault, forbidden } from '../fault.ts'
import type { Admission } from './admission.ts'
import { type BodyLimit, readJson } from './body.ts'
import { notFound, wrongMethod } from './envelope.ts'
import { type Exchange, sendJson } from './exchange.ts'
import type { Operation } from './operations.ts'

export interface ApiDeps {
  operations: Map<string, Operation>
  admission: Admission
  /** How large the body of an operation may be. */
  bodyLimitOf(path: string): BodyLimit
  /** Whether every answer is held against the contract: in tests, where it may cost time. */
  checkOutput: boolean
}

/**
 * The door of all operations: who is calling, then whether the input is right, then the handler, which asks what
 * exists and what is allowed.
 */
export function createApi({ operations, admission, bodyLimitOf, checkOutput }: ApiDeps) {
  return async (exchange: Exchange, headers?: OutgoingHttpHeaders): Promise<void> => {
    const { request, requestId, address, path } = exchange
    const operation = operations.get(path.slice(API_PREFIX.length))
    if (!operation || request.method !== 'POST') {
      admission.countStranger(exchange)
      if (!operation) throw notFound()
      exchange.route = operation.path
      throw wrongMethod('POST')
    }
    exchange.route = operation.path

    const { admission: admitted } = operation.meta
    const visitor = await admission.admit(exchange)
    if (!visitor && admitted !== 'anyone') throw new Fault('UNAUTHENTICATED', {})
    const input = operation.parseInput(await readJson(request, bodyLimitOf(operation.path)))
    if (admitted === 'session' && visitor?.credential.kind !== 'session') throw forbidden('scope_missing')

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
