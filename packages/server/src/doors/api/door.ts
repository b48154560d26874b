import { API_PREFIX, type OperationMeta } from '@trellis/contract'
import type { Caller } from '../../access/caller.ts'
import type { Call } from '../../operations/handlers.ts'
import type { Operation } from '../../operations/implement.ts'
import { Fault, forbidden } from '../../platform/fault.ts'
import { largerWork } from '../../platform/larger-work.ts'
import type { Database } from '../../schema.ts'
import type { Admission } from '../entry/admission.ts'
import { limitedAddress } from '../entry/client-address.ts'
import type { Cookie } from '../entry/cookies.ts'
import { type BodyLimit, readJson } from '../http/body.ts'
import type { Door, DoorFront } from '../http/door.ts'
import { type Exchange, sendJson } from '../http/exchange.ts'
import { notFound, wrongMethod } from '../http/failure.ts'
import type { LargeBodies } from '../http/large-bodies.ts'
import { leavingOf } from '../http/leaving.ts'
import type { Cors } from './cors.ts'
import { refuseInEnvelope } from './envelope.ts'

interface ApiDeps {
  operations: Map<string, Operation>
  admission: Admission
  /** How large a body may be, by what the contract says of the operation. */
  bodyLimits: Record<OperationMeta['body'], BodyLimit>
  cors: Cors
  largeBodies: LargeBodies
  anonymousCookie: Cookie
  settled: Database['settled']
  /** Whether every answer and failure is held against the contract: in tests, where it may cost time. */
  checkOutput: boolean
}

export const createApiFront = ({ baseUrl, cors }: { baseUrl: string; cors: Cors }): DoorFront => ({
  serves: (path) => path.startsWith(`${API_PREFIX}/`),
  refuse: (exchange, error) =>
    refuseInEnvelope(exchange, error, { baseUrl, headers: cors.headers(exchange) }),
})

/**
 * The door of all operations: who is calling, then whether the input is right, then the handler, which asks what
 * exists and what is allowed.
 */
export function createApi(deps: ApiDeps): Door['handle'] {
  const { operations, admission, bodyLimits, largeBodies, cors, checkOutput, anonymousCookie, settled } = deps
  return async (exchange) => {
    const { request, path } = exchange
    const headers = cors.headers(exchange)
    if (headers && cors.preflight(exchange, headers)) return
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
    let refusal: Fault | undefined
    const visitor = ignoresCredential
      ? undefined
      : await admission.admit(exchange).catch((error: unknown) => {
          // Known by their credential, but not in the organization they ask for: the input comes before that.
          if (!(error instanceof Fault && error.code === 'FORBIDDEN')) throw error
          refusal = error
          return undefined
        })
    if (!visitor && !refusal && admitted !== 'anyone') throw new Fault('UNAUTHENTICATED', {})
    if (isLarger(operation)) await largerWork.take(visitor?.org.id)
    const limit = bodyLimits[operation.meta.body]
    using room = largeBodies.expect(exchange, visitor, limit)
    const input = operation.parseInput(await readJson(request, limit, room))
    // A commit is its body; of others little is left once it is understood, and some wait long for their answer.
    if (operation.meta.body !== 'commit') room?.release()
    if (refusal) throw refusal
    if (admitted === 'session' && visitor?.credential.kind !== 'session')
      throw forbidden('scope_missing', 'This needs a session of a signed-in person, not a key or a token')

    const call = new IncomingCall(exchange, visitor, anonymousCookie.read(request.headers.cookie))
    let output: unknown
    try {
      output = await (checkOutput ? handleChecked(operation, input, call) : operation.handle(input, call))
    } finally {
      // That there is nothing left to do may be the work of somebody who was not told yet that it is done.
      if (!isReading(operation)) await settled()
    }
    const { remembered } = call.anonymous
    const cookie = remembered && { 'set-cookie': anonymousCookie.write(remembered) }
    sendJson(exchange, 200, output, cookie ? { ...headers, ...cookie } : headers)
  }
}

/** Whatever is done with objects. */
const isLarger = ({ path }: Operation): boolean => path.startsWith('/git/')

const isReading = ({ meta }: Operation): boolean => meta.needs?.endsWith(':read') ?? false

async function handleChecked(operation: Operation, input: unknown, call: Call): Promise<unknown> {
  const output = await operation.handle(input, call).catch((error: unknown) => {
    operation.checkFailure(error)
    throw error
  })
  operation.checkOutput(output)
  return output
}

class IncomingCall implements Call {
  readonly #response: Exchange['response']
  #leaving: AbortSignal | undefined
  readonly visitor: Caller | undefined
  readonly requestId: string
  readonly address: string
  readonly anonymous: AnonymousCookie

  constructor(
    { requestId, address, response }: Exchange,
    visitor: Caller | undefined,
    anonymousSecret: string | undefined,
  ) {
    this.#response = response
    this.visitor = visitor
    this.requestId = requestId
    this.address = address
    this.anonymous = new AnonymousCookie(anonymousSecret)
  }

  get caller(): Caller {
    if (!this.visitor) throw new Fault('UNAUTHENTICATED', {})
    return this.visitor
  }

  /** Made when somebody asks for it, because few do. */
  get signal(): AbortSignal {
    this.#leaving ??= leavingOf(this.#response)
    return this.#leaving
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
