import type { IncomingMessage } from 'node:http'
import { API_PREFIX, type Issue, RowConditions, RowsPlace } from '@trellis/contract'
import type { Caller } from '../../access/caller.ts'
import { Fault, invalid } from '../../platform/fault.ts'
import { createPlaces } from '../../platform/places.ts'
import type { RecordsService } from '../../records/service.ts'
import type { Cors } from '../api/cors.ts'
import type { Admission } from '../entry/admission.ts'
import { createPace } from '../git/patience.ts'
import { type BodyLimit, ClientGone, hasArrived, readJson, takeArrived } from '../http/body.ts'
import type { Door } from '../http/door.ts'
import { type Exchange, securityHeaders, sendJson } from '../http/exchange.ts'
import { wrongMethod } from '../http/failure.ts'
import type { LargeBodies } from '../http/large-bodies.ts'
import { leavingOf } from '../http/leaving.ts'
import { parseAsked } from '../http/parse-asked.ts'
import { linesOf } from './ndjson.ts'

export interface TransfersDeps {
  /** Undefined where records are switched off. */
  records: RecordsService | undefined
  admission: Admission
  cors: Cors
  /** Of what an export is asked with. */
  bodyLimit: BodyLimit
  largeBodies: LargeBodies
}

const EXPORT = `${API_PREFIX}/records/export`
const IMPORT = `${API_PREFIX}/records/import`

export const servesTransfers = (path: string): boolean => path === EXPORT || path === IMPORT

const PAGE = 1000
/** One that is not taken holds its page, and waits. */
const EXPORTS_AT_ONCE = 16
const EXPORTS_PER_ORG = 2

/** Short transactions: others write, too. */
const BATCH_ROWS = 100
const BATCH_CHARACTERS = 256 * 1024
/** Others who write wait for a batch: of rows that take long, with many indexes or many webhooks, there are fewer in one. */
const BATCH_MS = 100

const Export = RowsPlace.extend({ where: RowConditions.nullish() })

/** Rows as lines of JSON, any number of them: out with `records/export`, in with `records/import`. */
export function createTransfers(deps: TransfersDeps): Door['handle'] {
  const { records, admission, cors, bodyLimit, largeBodies } = deps
  const exporting = createPlaces({ size: EXPORTS_AT_ONCE, perOwner: EXPORTS_PER_ORG })

  return async (exchange) => {
    const { request, response, path } = exchange
    const headers = cors.headers(exchange)
    if (headers && cors.preflight(exchange, headers)) return
    exchange.route = path.slice(API_PREFIX.length)
    if (request.method !== 'POST') {
      admission.countStranger(exchange)
      throw wrongMethod('POST')
    }
    const caller = await admission.admit(exchange)
    if (!caller) throw new Fault('UNAUTHENTICATED', {})
    if (!records) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'records' })
    if (path === EXPORT) await exportRows(records, exchange, caller, leavingOf(response), headers)
    else sendJson(exchange, 200, { imported: await importRows(records, exchange, caller) }, headers)
  }

  /** What is wrong with the question is told before the first line; what goes wrong later cuts the answer short. */
  async function exportRows(
    records: RecordsService,
    exchange: Exchange,
    caller: Caller,
    signal: AbortSignal,
    headers: ReturnType<Cors['headers']>,
  ): Promise<void> {
    const { request, response, requestId } = exchange
    const room = largeBodies.expect(exchange, caller, bodyLimit)
    const body = await readJson(request, bodyLimit, room).finally(() => room?.release())
    const { where, ...place } = parseAsked(Export, body ?? {})
    const asked = {
      ...place,
      where: where ?? undefined,
      limit: PAGE,
    }
    const { id, provisional: isProvisional } = caller.org
    using _place = await exporting.acquire({ id, isProvisional }, signal)
    let page = await records.list(caller, asked, signal)
    response.writeHead(200, {
      ...securityHeaders,
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...headers,
    })
    const pace = createPace()
    for (;;) {
      const lines = page.rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      if (response.destroyed) throw new ClientGone()
      if (lines !== '' && !response.write(lines)) await pace.drained(response, Buffer.byteLength(lines))
      if (page.cursor === null) break
      page = await records.list(caller, { ...asked, cursor: page.cursor }, signal)
    }
    response.end()
  }

  /** Gives how many rows were added. */
  async function importRows(records: RecordsService, exchange: Exchange, caller: Caller): Promise<number> {
    const place = parseAsked(RowsPlace, Object.fromEntries(new URLSearchParams(exchange.query)))
    // Whether it may be at all is asked before anything is read.
    await records.createMany(caller, place, [])
    let imported = 0
    let batch: { line: number; data: Record<string, unknown> }[] = []
    let characters = 0
    let most = BATCH_ROWS
    const flush = async () => {
      const rows = batch.map(({ data }) => data)
      const begun = performance.now()
      await records.createMany(caller, place, rows).catch((error: unknown) => {
        throw atLines(
          error,
          batch.map(({ line }) => line),
        )
      })
      const isLong = performance.now() - begun > BATCH_MS
      most = isLong ? Math.ceil(batch.length / 2) : Math.min(BATCH_ROWS, most * 2)
      imported += batch.length
      batch = []
      characters = 0
    }
    try {
      for await (const { line, text } of linesOf(bodyOf(exchange))) {
        batch.push({ line, data: dataIn(text, line) })
        characters += text.length
        if (batch.length >= most || characters > BATCH_CHARACTERS) await flush()
      }
      await flush()
      return imported
    } catch (error) {
      throw afterRows(error, imported)
    }
  }
}

/** A line as an export has it; only what the row holds is taken from it. */
function dataIn(text: string, line: number): Record<string, unknown> {
  let row: unknown
  try {
    row = JSON.parse(text)
  } catch {
    throw invalid([line], 'is not valid JSON')
  }
  const data = isObject(row) && Object.hasOwn(row, 'data') ? row.data : undefined
  if (!isObject(data)) throw invalid([line, 'data'], 'must be an object')
  return data
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is wrong with the rows of a batch, at the lines they came in. */
function atLines(error: unknown, lines: readonly number[]): unknown {
  const toLine = ({ path = [], message }: Issue): Issue => {
    const [place, ...rest] = path
    return typeof place === 'number' ? { path: [lines[place] ?? place, ...rest], message } : { path, message }
  }
  return isInvalid(error)
    ? new Fault('BAD_REQUEST', { issues: (error.data.issues ?? []).map(toLine) })
    : error
}

/** Says what has been done before: the batches that were added stay. */
function afterRows(error: unknown, imported: number): unknown {
  if (!isInvalid(error)) return error
  const done = { message: imported === 1 ? '1 row was added before' : `${imported} rows were added before` }
  return new Fault('BAD_REQUEST', { issues: [...(error.data.issues ?? []), done] })
}

const isInvalid = (error: unknown): error is Fault<'BAD_REQUEST'> =>
  error instanceof Fault && error.code === 'BAD_REQUEST'

async function* bodyOf({ request, response }: Exchange): AsyncGenerator<Uint8Array> {
  // Leaving the body half read must not leave the connection stuck when the client has heard why.
  response.once('finish', () => setImmediate(() => request.resume()))
  if (hasArrived(request)) yield takeArrived(request)
  else yield* readable(request)
}

async function* readable(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* request.iterator({ destroyOnReturn: false })
  } catch {
    throw new ClientGone()
  }
}
