import type { IncomingMessage } from 'node:http'
import type { ErrorData } from '@trellis/contract'
import { Fault } from '../../platform/fault.ts'
import { joined } from '../../platform/joined.ts'
import { LARGE_JSON_BYTES, parseBoundedJson, parseLargeJson, type Sender } from '../../platform/large-json.ts'

/** A body must arrive in this time, however it drips; of a larger one at least so much, again and again. */
const BODY_TIMEOUT_MS = 30_000
const BYTES_IN_TIME = 8 * 1024 * 1024
/** Whoever goes through what is deeper, level by level, has no end of stack. */
const MAX_LEVELS = 500

/** What is larger than this waits for room in memory, where somebody minds it. */
export const LARGE_BODY_BYTES = 256 * 1024

/** Room for a body that turns out to be large. */
interface Room {
  take(): Promise<void>
  /** Who waits for it to be read. */
  sender: Sender
}

export interface BodyLimit {
  bytes: number
  /** What the refusal names. */
  scope: ErrorData<'PAYLOAD_TOO_LARGE'>['scope']
}

/** Reads a JSON body; one that is absent or empty reads as undefined. */
export async function readJson(request: IncomingMessage, limit: BodyLimit, room?: Room): Promise<unknown> {
  const bytes = await readBytes(request, limit, room)
  if (bytes.length === 0) return undefined
  if (!isJson(request.headers['content-type']))
    throw unreadable('Send the body as JSON, with the header Content-Type: application/json')
  const { value, problem } =
    bytes.length > LARGE_JSON_BYTES
      ? await parseLargeJson(bytes, { levels: MAX_LEVELS, sender: room?.sender })
      : parseSmallJson(bytes)
  if (problem !== undefined) throw unreadable(`The body ${problem}`)
  return value
}

function parseSmallJson(bytes: Buffer): ReturnType<typeof parseBoundedJson> {
  try {
    return parseBoundedJson(utf8.decode(bytes), { values: Number.POSITIVE_INFINITY, levels: MAX_LEVELS })
  } catch (error) {
    return { problem: `is not valid JSON: ${error instanceof Error ? error.message : error}` }
  }
}

export function readBytes(request: IncomingMessage, limit: BodyLimit, room?: Room): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limit.bytes) return Promise.reject(tooLarge(limit, announced))
  if (hasArrived(request)) return Promise.resolve(takeArrived(request))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let isOver = false
    let hasAsked = false
    const settle = () => {
      isOver = true
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('close', onClose)
    }
    const fail = (error: Error) => {
      settle()
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limit.bytes) fail(tooLarge(limit, size))
      else if (room && !hasAsked && size > LARGE_BODY_BYTES) waitFor(room)
    }
    const waitFor = (room: Room) => {
      hasAsked = true
      request.pause()
      clearTimeout(timer)
      room.take().then(() => {
        if (isOver) return
        timer = startTimer()
        request.resume()
      }, fail)
    }
    const onEnd = () => {
      settle()
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : joined(chunks))
    }
    const onClose = () => fail(new ClientGone())
    const startTimer = (): NodeJS.Timeout => {
      const before = size
      return setTimeout(() => {
        if (size - before >= BYTES_IN_TIME) timer = startTimer()
        else fail(unreadable('The body did not arrive in time'))
      }, BODY_TIMEOUT_MS)
    }
    let timer = startTimer()
    request.on('data', onData).on('end', onEnd).on('close', onClose)
  })
}

/** Small bodies come together with their headers: then there is nothing to wait for, and nothing to time. */
export const hasArrived = (request: IncomingMessage): boolean =>
  request.readableLength > 0 && request.readableLength === Number(request.headers['content-length'])

export function takeArrived(request: IncomingMessage): Buffer {
  taken.add(request)
  const first: Buffer = request.read()
  if (first.length === Number(request.headers['content-length'])) return first
  // A read need not give all there is.
  const chunks = [first]
  for (let next = request.read(); next !== null; next = request.read()) chunks.push(next)
  return Buffer.concat(chunks)
}

/** Whether nothing of the request is still to come. The parser says so a little later than it is true. */
export const isWhole = (request: IncomingMessage): boolean =>
  request.complete || taken.has(request) || !announcesBody(request)

const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const taken = new WeakSet<IncomingMessage>()

/** The client hung up in the middle of its request: there is nobody to answer. */
export class ClientGone extends Error {}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const isJson = (type: string | undefined): boolean =>
  type !== undefined && /^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type)

const unreadable = (message: string) => new Fault('BAD_REQUEST', { issues: [{ path: [], message }] })

const tooLarge = ({ bytes, scope }: BodyLimit, observed: number) =>
  new Fault('PAYLOAD_TOO_LARGE', { scope, limit: bytes, observed })
