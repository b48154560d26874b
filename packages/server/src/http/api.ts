import type { OutgoingHttpHeaders } from 'node:http'
import { API_PREFIX } from '@trellis/contract'
import { Fault, forbidden } from '../fault.ts'
import { limitedAddress } from './address.ts'
import type { Admission } from './admission.ts'
import { type BodyLimit, readJson } from './body.ts'
import type { Cookie } from './cookies.ts'
import { notFound, wrongMethod } from './envelope.ts'
import { type Exchange, sendJson } from './exchange.ts'
import type { Operation } from './operations.ts'

export interface ApiDeps {
  operations: Map<string, Operation>
  admission: Admission
  /** How large the body of an operation may be. */
  bodyLimitOf(path: string): BodyLimit
  anonymousCookie: Cookie
  /** Whether every answer is held against the contract: in tests, where it may cost time. */
  checkOutput: boolean
}

/**
 * The door of all operations: who is calling, then whether the input is right, then the handler, which asks what
 * exists and what is allowed.
 */
export function createApi({ operations, admission, bodyLimitOf, checkOutput, anonymousCookie }: ApiDeps) {
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

    let remembered: string | undefined
    const output = await operation.handle(input, {
      visitor,
      get caller() {
        if (!visitor) throw new Fault('UNAUTHENTICATED', {})
        return visitor
      },
      requestId,
      address,
      limitedAddress: limitedAddress(address),
      anonymous: {
        secret: anonymousCookie.read(request.headers.cookie),
        remember: (secret) => {
          remembered = secret
        },
      },
    })
    if (checkOutput) operation.checkOutput(output)
    const cookie = remembered && { 'set-cookie': anonymousCookie.write(remembered) }
    sendJson(exchange, 200, output, cookie ? { ...headers, ...cookie } : headers)
  }
}
