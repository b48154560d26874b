import { BundleLost, type ExtensionsService } from '../extensions/service.ts'
import type { Log } from '../platform/log.ts'
import { createPlaces, NoPlace } from '../platform/places.ts'
import type { ReposService } from '../repos/service.ts'
import type { Host, Outcome, Runtime } from '../runtime/runtime.ts'
import type { MakeBody } from './bodies.ts'
import { createMakingRoom } from './making-room.ts'
import { SHOWN_CHARACTERS } from './store.ts'

/** Modules that run at once, each in a process of its own: none can be hurt by another. */
export const MADE_AT_ONCE = 4
const AT_ONCE_OF_ORG = 2
/** They have nothing to wait for. */
const MAKE_MS = 5_000
/** How long a line that needs a body waits for a place, among those that send, before it makes room for others. */
const WAIT_MS = 2_000
const BUSY_PAUSE_MS = 1_000
/** Until a process can be started again, or somebody has looked. */
const FAILED_PAUSE_MS = 30_000
/** Whoever took longer than this is left alone for as long as it took. */
const SLOW_MS = 1_000

interface PayloadDeps {
  /** Undefined where extensions are switched off. */
  extensions: ExtensionsService | undefined
  /** Undefined where nothing can run them. */
  worker: Runtime | undefined
  repos: ReposService
  /** Deliveries that may be in flight. */
  concurrency: number
  log: Log
  onAsked(outcome: 'made' | 'dropped' | 'later'): void
}

/** Has modules of webhooks make bodies: with no capability, within little time, some at once of each organization. */
export function createPayloads(deps: PayloadDeps): MakeBody {
  const { extensions, worker, repos, concurrency, log, onAsked } = deps
  if (!(extensions && worker))
    return async () => ({ dropped: 'This server runs no payload modules. Nothing was sent.' })
  const places = createPlaces({
    size: MADE_AT_ONCE,
    perOwner: AT_ONCE_OF_ORG,
    forProvisional: 1,
    perProvisional: 1,
    maxWaitMs: WAIT_MS,
  })
  const room = createMakingRoom(concurrency)
  /** Webhooks whose modules were slow, and until when they wait. */
  const slow = new Map<string, number>()

  function leaveAlone(webhookId: string, ms: number): void {
    const now = performance.now()
    for (const [id, until] of slow) if (until <= now) slow.delete(id)
    slow.set(webhookId, now + ms)
  }

  const run: MakeBody = async (order, signal) => {
    const { orgId, repoId, webhook, moduleHash: hash } = order
    const repo = await repos.find(repoId)
    const owner = { id: orgId, isProvisional: repo !== undefined && repo.expires_at !== null }
    using seat = room.enter(owner)
    if (!seat) return { pauseMs: BUSY_PAUSE_MS }
    using _place = await places.acquire(owner, signal)
    const module = await extensions.openPayload(repo, { webhook: webhook.name, hash }, signal)
    const began = performance.now()
    const outcome = await worker.run(
      {
        runId: order.deliveryId,
        orgId,
        repoId,
        module,
        input: order.event,
        run: {},
        capabilities: [],
        secrets: {},
        timeoutMs: MAKE_MS,
      },
      NOTHING,
      signal,
    )
    // Whatever became of it is nobody's fault but ours.
    signal.throwIfAborted()
    const tookMs = performance.now() - began
    if (tookMs > SLOW_MS && outcome.kind !== 'not begun') leaveAlone(webhook.id, tookMs)
    return bodyOf(outcome)
  }

  const attempt: MakeBody = async (order, signal) => {
    const { webhook } = order
    const waitMs = (slow.get(webhook.id) ?? 0) - performance.now()
    if (waitMs > 0) return { pauseMs: waitMs }
    try {
      return await run(order, signal)
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof NoPlace) return { pauseMs: BUSY_PAUSE_MS }
      if (error instanceof BundleLost) return { dropped: error.message }
      log.error('a payload module could not be run', { webhook: webhook.id, error })
      return { pauseMs: FAILED_PAUSE_MS }
    }
  }

  return async (order, signal) => {
    const made = await attempt(order, signal)
    onAsked('body' in made ? 'made' : 'dropped' in made ? 'dropped' : 'later')
    return made
  }
}

/** There is nothing on `ctx`, and nobody who would read what a module says. */
const NOTHING: Host = {
  call: () => Promise.reject(new Error('Payload modules have no capabilities')),
  log() {},
}

function bodyOf(outcome: Outcome): Awaited<ReturnType<MakeBody>> {
  switch (outcome.kind) {
    case 'returned': {
      const { output } = outcome
      if (output === undefined) return { dropped: 'The payload module returned nothing' }
      return { body: typeof output === 'string' ? output : JSON.stringify(output) }
    }
    case 'threw':
      return { dropped: (outcome.stack ?? outcome.error).slice(0, SHOWN_CHARACTERS) }
    case 'ended':
      return { dropped: `The payload module made no body. ${outcome.error}` }
    default:
      throw new Error(outcome.kind === 'not begun' ? outcome.reason : 'It waits as only workflows do')
  }
}
