import type { OutgoingHttpHeaders } from 'node:http'
import { API_PREFIX, type LogEvent, RepoName } from '@trellis/contract'
import { Gauge } from 'prom-client'
import type { Caller } from '../../access/caller.ts'
import type { Logs } from '../../events/logs.ts'
import type { Tailing } from '../../events/tailing.ts'
import type { EventScope } from '../../events/types.ts'
import type { Stopwatch } from '../../platform/clock.ts'
import { Fault, invalid } from '../../platform/fault.ts'
import type { Registry } from '../../platform/metrics.ts'
import type { RunsService } from '../../runs/service.ts'
import type { Cors } from '../api/cors.ts'
import type { Admission } from '../entry/admission.ts'
import type { Door } from '../http/door.ts'
import { type Exchange, securityHeaders } from '../http/exchange.ts'
import { wrongMethod } from '../http/failure.ts'
import { createTailPlaces } from './places.ts'
import { createStream, type Shown } from './stream.ts'
import { createTailUpkeep } from './upkeep.ts'

export interface TailsDeps {
  tailing: Tailing
  logs: Logs
  /** Undefined where extensions are switched off. */
  runs: RunsService | undefined
  admission: Admission
  cors: Cors
  registry: Registry
  stopwatch: Stopwatch
  limits: { tails: number; tailsPerCaller: number }
}

/** A log that is to be followed. */
interface Followed extends Shown {
  scope: EventScope
  /** Nothing more will be added to it. */
  isOver: boolean
  /** Whether it is told from its first event on, to one who does not say where to go on. */
  fromStart: boolean
}

const EVENTS = `${API_PREFIX}/events/tail`
const RUN = new RegExp(`^${API_PREFIX}/runs/([^/]+)/tail$`)

export const servesTails = (path: string): boolean => path === EVENTS || RUN.test(path)

/** Logs as they grow, as server-sent events: `runs/{id}/tail` and `events/tail`. */
export function createTails(deps: TailsDeps): Door['handle'] {
  const { tailing, logs, admission, cors, stopwatch, limits } = deps
  const places = createTailPlaces({ total: limits.tails, perCaller: limits.tailsPerCaller })
  const upkeep = createTailUpkeep({ stopwatch })
  new Gauge({
    name: 'trellis_tails',
    help: 'Live tails of logs that are open',
    registers: [deps.registry],
    collect() {
      this.set(places.taken)
    },
  })

  async function open(caller: Caller, path: string, query: URLSearchParams): Promise<Followed> {
    const id = RUN.exec(path)?.[1]
    if (id === undefined) {
      const scope = await logs.open(caller, nameIn(query))
      return { scope, isOver: false, fromStart: false, isNumbered: true, isLast: isFarewell }
    }
    if (!deps.runs) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'extensions' })
    return { ...(await deps.runs.openLog(caller, id)), fromStart: true, isNumbered: false }
  }

  /** Where the caller has got to. What cannot be read, or was never reached, is no place. */
  async function positionOf({ request }: Exchange, { scope, fromStart }: Followed): Promise<number> {
    const last = await tailing.lastOf(scope)
    const given = request.headers['last-event-id']?.toString() ?? ''
    const known = /^\d{1,15}$/.test(given) && Number(given) <= last ? Number(given) : undefined
    return known ?? (fromStart ? 0 : last)
  }

  async function stream(
    exchange: Exchange,
    followed: Followed,
    { position, ask }: { position: number; ask(): Promise<void> },
  ): Promise<void> {
    const { response } = exchange
    const out = createStream(response, followed)
    const now = stopwatch()
    const tail = { sentAt: now, askedAt: now, beat: out.beat, ask, end: out.end }
    out.onSent(() => {
      tail.sentAt = stopwatch()
    })
    using _watched = upkeep.watch(tail)
    out.begin()
    const following = tailing.follow(followed.scope, position, out.listener)
    await out.closed
    following.stop()
  }

  return async (exchange) => {
    const { request, path } = exchange
    const cross = cors.headers(exchange)
    if (cross && cors.preflight(exchange, cross, 'GET')) return
    exchange.route = path === EVENTS ? '/events/tail' : '/runs/{id}/tail'
    if (request.method !== 'GET') {
      admission.countStranger(exchange)
      throw wrongMethod('GET')
    }
    const query = new URLSearchParams(exchange.query)
    const acceptance = { org: query.get('org') ?? undefined }
    const caller = await admission.admit(exchange, acceptance)
    if (!caller) throw new Fault('UNAUTHENTICATED', {})
    const followed = await open(caller, path, query)
    const position = await positionOf(exchange, followed)
    // A browser that comes again when all was told is to stop asking.
    if (followed.isOver && position >= (await tailing.lastOf(followed.scope)))
      return void exchange.response.writeHead(204, headersOf(exchange, cross)).end()

    using _place = await places.take(caller)
    exchange.response.writeHead(200, {
      ...headersOf(exchange, cross),
      'content-type': 'text/event-stream; charset=utf-8',
      // Some proxies would wait for more.
      'x-accel-buffering': 'no',
    })
    await stream(exchange, followed, {
      position,
      async ask() {
        const now = await admission.again(exchange, acceptance)
        if (!now) throw new Fault('UNAUTHENTICATED', {})
        const { scope } = await open(now, path, query)
        if (scope !== followed.scope) throw new Fault('UNAUTHENTICATED', {})
      },
    })
  }
}

/** What a log is about ends with it. */
const isFarewell = ({ type, scope }: LogEvent): boolean =>
  type === 'repo.deleted' ? scope.startsWith('repo:') : type === 'org.deleted'

const headersOf = ({ requestId }: Exchange, cross: OutgoingHttpHeaders | undefined): OutgoingHttpHeaders => ({
  ...securityHeaders,
  'cache-control': 'no-store',
  'x-request-id': requestId,
  ...cross,
})

function nameIn(query: URLSearchParams): string | undefined {
  const given = query.get('name')
  if (given === null) return undefined
  const parsed = RepoName.safeParse(given)
  if (!parsed.success) throw invalid(['name'], parsed.error.issues[0]?.message ?? 'This is no name')
  return parsed.data
}
