import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, type Gunzip } from 'node:zlib'
import type { Caller } from '../../access/caller.ts'
import type { Bytes, FetchService } from '../../code/fetch.ts'
import type { PushService } from '../../code/push.ts'
import { releaseChunk } from '../../git/clones/shared-buffers.ts'
import { type ProtocolVersion, parseProtocolVersion, type Service } from '../../git/protocol/advertisement.ts'
import { errorPacket, ProtocolError } from '../../git/protocol/pkt-line.ts'
import { MAX_UPLOAD_BYTES } from '../../git/protocol/upload-request.ts'
import { Fault } from '../../platform/fault.ts'
import { largerWork } from '../../platform/larger-work.ts'
import { inTerminalWords } from '../../platform/terminal-words.ts'
import type { RepoRow, ReposService } from '../../repos/service.ts'
import type { Database } from '../../schema.ts'
import type { Cors } from '../api/cors.ts'
import { type Console, pageOfRepo } from '../console/door.ts'
import type { Admission } from '../entry/admission.ts'
import { ClientGone, hasArrived, takeArrived } from '../http/body.ts'
import type { Door, DoorFront } from '../http/door.ts'
import { type Exchange, send } from '../http/exchange.ts'
import {
  bearerChallenge,
  failureOf,
  notFound,
  Refusal,
  withDirections,
  wrongMethod,
} from '../http/failure.ts'
import { isSmall, type LargeBodies } from '../http/large-bodies.ts'
import { leavingOf } from '../http/leaving.ts'
import { redirect } from '../pages/layout.ts'
import { isForLfs, noLfs, refuseLfs } from './lfs.ts'
import { drained } from './patience.ts'

export interface GitDoorDeps {
  admission: Admission
  cors: Cors
  repos: ReposService
  fetches: FetchService
  pushes: PushService
  largeBodies: LargeBodies
  settled: Database['settled']
  /** Where people see what git clones. */
  console: Console | undefined
}

const IDLE_MS = 10 * 60_000
const SMALL_ANSWER = 16 * 1024
/** What a compressed request for refs or objects may become: ids hardly halve, and a line takes ten times its bytes here. */
const INFLATED = { free: 1024 * 1024, times: 32 }

const GIT_PREFIX = '/git/'

const PATH =
  /^\/git\/([a-z0-9][a-z0-9-]{0,63})\/([a-z0-9][a-z0-9._-]{0,63}?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/
/** What people copy out of a terminal, and open. */
const CLONE_ADDRESS = /^\/git\/([a-z0-9][a-z0-9-]{0,63})\/([a-z0-9][a-z0-9._-]{0,63}?)(?:\.git)?\/?$/
const SERVICES: readonly string[] = ['git-upload-pack', 'git-receive-pack'] satisfies Service[]

/** Git asks in these words; others may ask in others. */
const serviceIn = (query: string): string | null =>
  query === '?service=git-upload-pack' ? 'git-upload-pack' : new URLSearchParams(query).get('service')

/** Git shows its user plain text, and nothing else. */
export const createGitFront = ({ baseUrl, cors }: { baseUrl: string; cors: Cors }): DoorFront => ({
  serves: (path) => path.startsWith(GIT_PREFIX),
  refuse(exchange, error) {
    const { status, message, headers } = failureOf(error, exchange.requestId)
    const words = error instanceof Fault ? inTerminalWords(error) : message
    // Some clients read the last one alone, and know Basic.
    const challenge = status === 401 && {
      'www-authenticate': [bearerChallenge(baseUrl, message), 'Basic realm="Trellis"'],
    }
    const text = status === 401 ? withDirections(words, baseUrl) : words
    const all = { ...cors.headers(exchange), ...headers, ...challenge }
    if (isForLfs(exchange)) return refuseLfs(exchange, status, text, all)
    send(exchange, status, 'text/plain; charset=utf-8', `${text}\n`, all)
  },
})

/** The door for git clients: smart HTTP at `/git/{org}/{repo}.git`. */
export function createGitDoor(deps: GitDoorDeps): Door['handle'] {
  const { admission, cors, repos, fetches, pushes, largeBodies, settled, console } = deps
  return async (exchange) => {
    const { request, response, path, query } = exchange
    exchange.route = '/git'
    const [, orgSlug, name, action] = PATH.exec(path) ?? []
    const [, ofOrg, ofName] = (!action && CLONE_ADDRESS.exec(path)) || []
    if (ofOrg && ofName && console?.isVisit(exchange)) {
      admission.countStranger(exchange)
      return redirect(exchange, pageOfRepo(ofOrg, ofName))
    }
    const cross = cors.headers(exchange)
    if (cross && cors.preflight(exchange, cross, 'GET, POST')) return
    const caller = await admission.admit(exchange, { basic: true })
    if (!caller) throw new Fault('UNAUTHENTICATED', {})
    if (isForLfs(exchange)) throw noLfs()
    if (!orgSlug || !name || !action) throw notFound()

    const isAdvertisement = action === 'info/refs'
    const service = isAdvertisement ? serviceIn(query) : action
    if (!service || !SERVICES.includes(service)) throw notFound()
    exchange.route = `/git ${isAdvertisement ? 'info/refs' : service}`
    if (request.method !== (isAdvertisement ? 'GET' : 'POST'))
      throw wrongMethod(isAdvertisement ? 'GET' : 'POST')
    const power = service === 'git-receive-pack' ? 'repo:write' : 'repo:read'
    const { repo, inside } = await repos.openAt(caller, { orgSlug, name }, power)
    if (!isAdvertisement) requireType(exchange, `application/x-${service}-request`)
    if (action === 'git-receive-pack') await largerWork.take(repo.org_id)

    // Clients follow where they begin, and go on with the new address. Whoever does not is served here all the same.
    const isMoved = repo.name !== name || inside.org.slug !== orgSlug
    if (isMoved && isAdvertisement) {
      const location = `${GIT_PREFIX}${inside.org.slug}/${repo.name}.git/info/refs?service=${service}`
      const words = `This repository is now at ${location}\n`
      const headers = { ...cross, location, 'cache-control': 'no-store' }
      return send(exchange, 302, 'text/plain; charset=utf-8', words, headers)
    }

    const version = parseProtocolVersion(request.headers['git-protocol']?.toString())
    const headers = {
      ...cross,
      'content-type': `application/x-${service}-${isAdvertisement ? 'advertisement' : 'result'}`,
      'cache-control': 'no-store',
      'x-request-id': exchange.requestId,
    }
    if (isAdvertisement) {
      const refs = await fetches.advertise(repo, service as Service, version)
      // Of what is there already git tells its user that it is pushed.
      if (service === 'git-receive-pack') await settled()
      return answer(exchange, headers, refs)
    }

    const whole = wholeBodyOf(exchange)
    if (whole && version === 2 && service === 'git-upload-pack') {
      const told = await fetches.repeatUploadPack(repo, whole)
      if (told) return answer(exchange, headers, [told])
    }

    for (const [header, value] of Object.entries(headers)) if (value) response.setHeader(header, value)
    // A client that neither sends nor takes anything must not hold a git process for ever.
    const { socket } = request
    const giveUp = () => socket.destroy()
    socket.setTimeout(IDLE_MS, giveUp)
    // The connection is kept for other requests, with a timeout that is not ours.
    response.once('close', () => socket.off('timeout', giveUp))
    const signal = leavingOf(response)
    await inGitsWords(exchange, () =>
      service === 'git-upload-pack'
        ? upload(exchange, inside, repo, { version, signal, whole })
        : receive(exchange, inside, repo, { signal, whole }),
    )
  }

  async function upload(
    exchange: Exchange,
    caller: Caller,
    repo: RepoRow,
    { version, signal, whole }: { version: ProtocolVersion; signal: AbortSignal; whole: Buffer | undefined },
  ): Promise<void> {
    const body = whole ? arrived(whole) : bodyOf(exchange, INFLATED)
    using held = isSmall(exchange.request)
      ? undefined
      : largeBodies.open(exchange, caller, { maxBytes: MAX_UPLOAD_BYTES, signal })
    const result = await fetches.uploadPack(repo, held?.pass(body) ?? body, { version, signal, whole })
    if (!result) exchange.response.end()
    else if (Symbol.asyncIterator in result) await stream(exchange, result)
    else await answer(exchange, {}, result)
  }

  async function receive(
    exchange: Exchange,
    caller: Caller,
    repo: RepoRow,
    { signal, whole }: { signal: AbortSignal; whole: Buffer | undefined },
  ): Promise<void> {
    const { response } = exchange
    const body = whole ? arrived(whole) : bodyOf(exchange)
    const write = (chunk: Buffer) => void (chunk.length > 0 && response.write(chunk))
    const isWhole = whole !== undefined
    const report = await pushes.receivePack(caller, repo, body, { isWhole, signal, write })
    endWith(response, report)
  }
}

/**
 * A request that makes no sense, or one for what cannot be read here, is answered the way git tells its user, as long as
 * nothing else has been said: of an answer with another status git shows the status alone.
 */
async function inGitsWords({ response }: Exchange, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isForItsUser = error instanceof ProtocolError || isUnreadable(error)
    if (!isForItsUser || response.headersSent) throw error
    response.end(errorPacket(error.message))
  }
}

/** A browser asks first before it lets a page of another site send this type: a form cannot push. */
function requireType({ request }: Exchange, wanted: string): void {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== wanted) throw new Refusal(415, 'UNSUPPORTED_MEDIA_TYPE', `Send Content-Type: ${wanted}`)
}

const isUnreadable = (error: unknown): error is Fault =>
  error instanceof Fault && error.code === 'REPO_WORKSPACE_REQUIRED'

const isGzipped = ({ headers }: IncomingMessage): boolean =>
  /^(x-)?gzip$/i.test(headers['content-encoding'] ?? '')

/** A body that came together with its headers. */
const wholeBodyOf = ({ request }: Exchange): Buffer | undefined =>
  hasArrived(request) && !isGzipped(request) ? takeArrived(request) : undefined

function bodyOf({ request, response }: Exchange, inflation?: typeof INFLATED): Bytes {
  const gunzip = isGzipped(request) ? createGunzip() : undefined
  if (gunzip) {
    request.on('error', (error) => gunzip.destroy(error))
    request.pipe(gunzip)
  }
  // Leaving the body half read must not close the connection before the client has heard why, and must not leave it
  // stuck afterwards. Nothing flows while somebody listens for more, and it takes a tick until that is noticed.
  response.once('finish', () => {
    gunzip?.destroy()
    request.unpipe().removeAllListeners('readable')
    setImmediate(() => request.resume())
  })
  const body = readable(gunzip ?? request)
  return gunzip && inflation ? inflatedWithin(inflation, gunzip, body) : body
}

async function* arrived(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body
}

async function* readable(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body.iterator({ destroyOnReturn: false })
  } catch (error) {
    if (isZlibError(error)) throw new ProtocolError('the body is not valid gzip')
    throw new ClientGone()
  }
}

async function* inflatedWithin(
  { free, times }: typeof INFLATED,
  gunzip: Gunzip,
  body: Bytes,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > free + times * gunzip.bytesWritten) throw new ProtocolError('the body inflates to too much')
    yield chunk
  }
}

const isZlibError = (error: unknown) => String((error as NodeJS.ErrnoException).code).startsWith('Z_')

/** Sends what is there already: mostly one chunk, whose length can be told. */
async function answer(
  exchange: Exchange,
  headers: OutgoingHttpHeaders,
  chunks: Iterable<Buffer>,
): Promise<void> {
  const { response } = exchange
  const iterator = chunks[Symbol.iterator]()
  const first = iterator.next()
  const second = first.done ? first : iterator.next()
  if (!second.done) {
    response.writeHead(200, headers)
    response.write(first.value)
    response.write(second.value)
    return stream(exchange, { [Symbol.iterator]: () => iterator })
  }
  const body = first.value ?? Buffer.alloc(0)
  response.writeHead(200, { ...headers, 'content-length': body.length })
  endWith(response, body)
}

/** As text what is small goes out together with the headers. */
function endWith(response: ServerResponse, body: Buffer): void {
  if (body.length <= SMALL_ANSWER) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
}

/** Sends what comes, no faster than the client takes it. */
async function stream({ response }: Exchange, chunks: Bytes | Iterable<Buffer>): Promise<void> {
  for await (const chunk of chunks) {
    if (response.destroyed) throw new ClientGone()
    const release = (error: unknown) => {
      if (!error) releaseChunk(chunk)
    }
    if (!response.write(chunk, release)) await drained(response)
  }
  response.end()
}
