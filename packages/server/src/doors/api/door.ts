import type { OutgoingHttpHeaders } from 'node:http'
import { API_PREFIX } from '@trellis/contract'
import type { Caller } from '../../access/caller.ts'
import type { Call, Operation } from '../../operations/operations.ts'
import { Fault, forbidden } from '../../platform/fault.ts'
import { limitedAddress } from '../entry/address.ts'
import type { Admission } from '../entry/admission.ts'
import type { Cookie } from '../entry/cookies.ts'
import { type BodyLimit, readJson } from '../http/body.ts'
import { type Exchange, sendJson } from '../http/exchange.ts'
import { notFound, wrongMethod } from './envelope.ts'

export interface ApiDeps {
  operations: Map<string, Operation>
  admission: Admission
  /** How large the body of an operation may be. */
  bodyLimitOf(path: string): BodyLimit
  anonymousCookie: Cookie
  /** Whether every answer and failure is held against the contract: in tests, where it may cost time. */
  checkOutput: boolean
}

/**
 * The door of all operations: who is calling, then whether the input is right, then the handler, which asks what
 * exists and what is allowed.
 */
export function createApi({ operations, admission, bodyLimitOf, checkOutput, anonymousCookie }: ApiDeps) {
  return async (exchange: Exchange, headers?: OutgoingHttpHeaders): Promise<void> => {
    const { request, path } = exchange
    const operation = operations.get(path.slice(API_PREFIX.length))
    if (!operation || request.method !== 'POST') {
      admission.countStranger(exchange)
      if (!operation) throw notFound()
      exchange.route = operation.path
      throw wrongMethod('POST')
    }
    exchange.route = operation.path

    const { admission: admitted, ignoresCredential } = operation.meta
    if (ignoresCredential) admission.countStranger(exchange)
    const visitor = ignoresCredential ? undefined : await admission.admit(exchange)
    if (!visitor && admitted !== 'anyone') throw new Fault('UNAUTHENTICATED', {})
    const input = operation.parseInput(await readJson(request, bodyLimitOf(operation.path)))
    if (admitted === 'session' && visitor?.credential.kind !== 'session') throw forbidden('scope_missing')

    const call = new IncomingCall(exchange, visitor, anonymousCookie.read(request.headers.cookie))
    const output = await (checkOutput ? handleChecked(operation, input, call) : operation.handle(input, call))
    const { remembered } = call.anonymous
    const cookie = remembered && { 'set-cookie': anonymousCookie.write(remembered) }
    sendJson(exchange, 200, output, cookie ? { ...headers, ...cookie } : headers)
  }
}

async function handleChecked(operation: Operation, input: unknown, call: Call): Promise<unknown> {
  const output = await operation.handle(input, call).catch((error: unknown) => {
    operation.checkFailure(error)
    throw error
  })
  operation.checkOutput(output)
  return output
}

class IncomingCall implements Call {
  readonly visitor: Caller | undefined
  readonly requestId: string
  readonly address: string
  readonly anonymous: AnonymousCookie

  constructor(
    { requestId, address }: Exchange,
    visitor: Caller | undefined,
    anonymousSecret: string | undefined,
  ) {
    this.visitor = visitor
    this.requestId = requestId
    this.address = address
    this.anonymous = new AnonymousCookie(anonymousSecret)
  }

  get caller(): Caller {
    if (!this.visitor) throw new Fault('UNAUTHENTICATED', {})
    return this.visitor
  }

  get limitedAddress(): string | undefined {
    return limitedAddress(this.address)
  }
}

class AnonymousCookie {
  readonly secret: string | undefined
  remembered: string | undefined

  constructor(secret: string | undefined) {
    this.secret = secret
  }

  remember(secret: string): void {
    this.remembered = secret
  }
}
