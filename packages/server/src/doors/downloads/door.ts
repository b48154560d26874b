import type { OutgoingHttpHeaders } from 'node:http'
import { API_PREFIX, ArchiveAsked, RawAsked } from '@trellis/contract'
import type { Caller } from '../../access/caller.ts'
import type { DownloadsService } from '../../code/downloads.ts'
import { Fault } from '../../platform/fault.ts'
import { createPlaces } from '../../platform/places.ts'
import type { Cors } from '../api/cors.ts'
import type { Admission } from '../entry/admission.ts'
import { createPace } from '../git/patience.ts'
import { ClientGone } from '../http/body.ts'
import type { Door } from '../http/door.ts'
import { type Exchange, securityHeaders, send } from '../http/exchange.ts'
import { wrongMethod } from '../http/failure.ts'
import { leavingOf } from '../http/leaving.ts'
import { parseAsked } from '../http/parse-asked.ts'
import { disposition, mediaOf, SHUT_IN } from './media.ts'

export interface DownloadsDeps {
  downloads: DownloadsService
  admission: Admission
  cors: Cors
  /** Git processes that may run at once. */
  processes: number
}

const ARCHIVE = `${API_PREFIX}/git/archive`
const RAW = `${API_PREFIX}/git/raw`

export const servesDownloads = (path: string): boolean => path === ARCHIVE || path === RAW

/** What one of them takes of git lasts as long as its client likes, so most processes are left to others. */
const PART_OF_PROCESSES = 1 / 2
const PER_ORG = 2
/** Only for organizations that have none: nobody gets a second one while fewer are free. */
const PART_FOR_OTHERS = 1 / 2

type Chunks = AsyncGenerator<Buffer, void, undefined>

/** Archives of commits and files as they are, for browsers and for whoever keeps them: `git/archive` and `git/raw`. */
export function createDownloads({ downloads, admission, cors, processes }: DownloadsDeps): Door['handle'] {
  const size = Math.max(1, Math.floor(processes * PART_OF_PROCESSES))
  const places = createPlaces({ size, perOwner: PER_ORG, forOthers: Math.floor(size * PART_FOR_OTHERS) })

  return async (exchange) => {
    const { request, response, path } = exchange
    const cross = cors.headers(exchange)
    if (cross && cors.preflight(exchange, cross, 'GET')) return
    exchange.route = path.slice(API_PREFIX.length)
    if (request.method !== 'GET') {
      admission.countStranger(exchange)
      throw wrongMethod('GET')
    }
    const query = Object.fromEntries(new URLSearchParams(exchange.query))
    const caller = await admission.admit(exchange, { basic: true, org: query.org, isVisit: true })
    if (!caller) throw new Fault('UNAUTHENTICATED', {})
    const signal = leavingOf(response)
    if (path === ARCHIVE) await sendArchive(exchange, caller, query, signal, cross)
    else await sendFile(exchange, caller, query, signal, cross)
  }

  async function sendArchive(
    exchange: Exchange,
    caller: Caller,
    query: object,
    signal: AbortSignal,
    cross: OutgoingHttpHeaders | undefined,
  ): Promise<void> {
    const archive = await downloads.openArchive(caller, parseAsked(ArchiveAsked, query), signal)
    const headers = {
      'content-type': archive.fileName.endsWith('.zip') ? 'application/zip' : 'application/gzip',
      'content-disposition': disposition('attachment', archive.fileName),
      'cache-control': 'no-store',
      ...cross,
    }
    await stream(exchange, caller, { chunks: archive.stream(), signal, headersOf: () => headers })
  }

  async function sendFile(
    exchange: Exchange,
    caller: Caller,
    query: object,
    signal: AbortSignal,
    cross: OutgoingHttpHeaders | undefined,
  ): Promise<void> {
    const { download, ...asked } = parseAsked(RawAsked, query)
    const file = await downloads.openFile(caller, asked, signal)
    const { request } = exchange
    const tag = `"${file.oid}"`
    const headersOf = (start: Buffer): OutgoingHttpHeaders => ({
      ...mediaOf({
        fileName: file.fileName,
        start,
        isDownload: download !== undefined,
        headers: request.headers,
      }),
      'content-security-policy': SHUT_IN,
      'cache-control': 'private, no-cache',
      etag: tag,
      ...cross,
      vary: 'sec-fetch-dest, origin',
    })
    if (request.headers['if-none-match'] === tag) {
      const known = { ...securityHeaders, etag: tag, 'cache-control': 'private, no-cache', ...cross }
      exchange.response.writeHead(304, { ...known, 'x-request-id': exchange.requestId }).end()
    } else if ('bytes' in file) {
      const { 'content-type': type, ...headers } = headersOf(file.bytes)
      send(exchange, 200, String(type), file.bytes, headers)
    } else {
      const withLength = (start: Buffer) => ({ ...headersOf(start), 'content-length': file.size })
      await stream(exchange, caller, { chunks: file.stream(), signal, headersOf: withLength })
    }
  }

  /** What goes wrong before the first chunk is told; what goes wrong later cuts the answer short. */
  async function stream(
    { response, requestId }: Exchange,
    caller: Caller,
    sent: { chunks: Chunks; signal: AbortSignal; headersOf(start: Buffer): OutgoingHttpHeaders },
  ): Promise<void> {
    const { id, provisional: isProvisional } = caller.org
    using _place = await places.acquire({ id, isProvisional }, sent.signal)
    const pace = createPace()
    let bytes = 0
    for await (const chunk of sent.chunks) {
      if (response.destroyed) throw new ClientGone()
      if (!response.headersSent)
        response.writeHead(200, { ...securityHeaders, 'x-request-id': requestId, ...sent.headersOf(chunk) })
      bytes += chunk.length
      if (response.write(chunk)) continue
      await pace.drained(response, bytes)
      bytes = 0
    }
    response.end()
  }
}
