import type { Issue } from '@trellis/contract'
import { actingOrg, type Caller } from '../../access/caller.ts'
import type { Hold } from '../../background/leased.ts'
import type { OrgsService } from '../../orgs/service.ts'
import { Fault, forbidden, invalid } from '../../platform/fault.ts'
import { largerWork } from '../../platform/larger-work.ts'
import { createPlaces, NoPlace } from '../../platform/places.ts'
import { placeOwnerOf } from '../../repos/place-owner.ts'
import type { RepoRow, ReposService } from '../../repos/service.ts'
import type { Blank } from '../../runtime/ctx/blanking.ts'
import type { Host } from '../../runtime/runtime.ts'
import type { Db } from '../../schema.ts'
import { causeOf } from '../causes.ts'
import type { Journals } from '../journal.ts'
import type { RunRow } from '../store.ts'
import { isFetchFailed } from './fetching.ts'
import type { GoingOn } from './going-on.ts'
import type { CtxMethod, CtxMethods } from './methods.ts'

/**
 * Calls that are under way at once, in this process and for one organization; others wait. Few, because each takes the
 * one thread from everybody else. Those that wait for somebody elsewhere take nothing.
 */
const CALLS = { size: 64, perOwner: 2, forProvisional: 4, perProvisional: 1, maxWaiting: 1_000 }
const CALLS_AWAY = { size: 64, perOwner: 16, maxWaiting: 1_000 }
/** What a run asks beyond this has a rest after each call, as long as the call: to ask and ask is to take half of the time. */
const EASY_CALLS = 100
const LONGEST_REST_MS = 25
/** Of one run. */
export const MAX_CALLS = 100_000
const MOST_ISSUES = 5

interface HostDeps {
  db: Db
  orgs: OrgsService
  repos: ReposService
  methods: CtxMethods
  journals: Journals
  goingOn: GoingOn
  complain(message: string, about: { error: unknown; run: string }): void
}

/**
 * The other side of `ctx`. Whatever a module does to its own side, here each call is asked for what the run was granted,
 * and then goes where the operation of the same name goes, as a caller who may do no more than that.
 */
export function createCtxHosts({ db, orgs, repos, methods, journals, goingOn, complain }: HostDeps) {
  const here = createPlaces(CALLS)
  const away = createPlaces(CALLS_AWAY)

  async function callerFor(run: RunRow, repo: RepoRow, writes: boolean): Promise<Caller> {
    const org = await orgs.find(db, repo.org_id)
    if (!org) throw new Fault('REPO_NOT_FOUND', { name: repo.name })
    return {
      actor: { kind: run.actor_kind, id: run.actor_id },
      credential: { kind: 'token', id: run.token_id ?? run.id },
      org: actingOrg(org),
      role: 'owner',
      scopes: [writes ? 'repo:write' : 'repo:read'],
      expiresAt: null,
      onlyRepoId: repo.id,
      cause: causeOf(run),
      requireGoingOnIn: (tx) => goingOn.requireIn(tx, run.id),
    }
  }

  interface Asked {
    run: RunRow
    method: CtxMethod
    args: readonly unknown[]
    /** One of those that a run asks for after many. */
    isLate: boolean
  }

  async function perform({ run, method, args, isLate }: Asked, signal: AbortSignal): Promise<unknown> {
    const repo = await repos.find(run.repo_id)
    if (!repo) throw new Fault('REPO_NOT_FOUND', { name: '' })
    const place = await (method.isAway ? away : here).acquire(placeOwnerOf(repo), signal)
    if (!method.isAway) await largerWork.take(repo.org_id)
    const begun = performance.now()
    try {
      const caller = await callerFor(run, repo, method.writes ?? false)
      // Asked here for all, because not each of them writes to the repository itself.
      if (method.writes) repos.requireWritable(caller, repo)
      // All others are refused in the transaction of what they change.
      if (method.isAway) await goingOn.require(run.id)
      return await method.perform({ run, repo, caller, args, signal })
    } finally {
      const took = performance.now() - begun
      if (isLate && !method.isAway) setTimeout(place.release, Math.min(took, LONGEST_REST_MS)).unref()
      else place.release()
    }
  }

  /** What a module may know of a failure. */
  function inItsWords(run: RunRow, error: unknown, signal: AbortSignal): unknown {
    if (error instanceof Fault) return withIssues(error)
    if (isFetchFailed(error) || signal.aborted) return error
    if (error instanceof NoPlace) return new Fault('TOO_MANY_REQUESTS', { retryAfterMs: error.retryAfterMs })
    complain('a call of a run failed', { error, run: run.id })
    return new Error('Something went wrong on our side')
  }

  return {
    /** For a run that is in somebody's hands: when it is not any more, nothing is done for it. */
    hostFor(run: RunRow, hold: Hold, blank: Blank): Pick<Host, 'call'> {
      const capabilities = JSON.parse(run.effective) as string[]
      const isGranted = ({ needs }: CtxMethod) =>
        capabilities.some((one) => one === needs || (needs.endsWith(':') && one.startsWith(needs)))
      const journal = run.runtime === 'workflow' ? journals.openFor(run, hold, blank) : undefined
      function methodFor(name: string): CtxMethod {
        const method = Object.hasOwn(methods, name) ? methods[name] : undefined
        if (!method) throw invalid([], `There is no ${name} on ctx`)
        if (isGranted(method)) return method
        throw (
          method.refusal?.() ??
          forbidden('scope_missing', `${name} needs ${method.needs}, which was not granted`)
        )
      }
      let count = 0
      return {
        async call(name, args, signal) {
          if (++count > MAX_CALLS)
            throw new Fault('TOO_MANY_REQUESTS', {}, { message: `A run may call ${MAX_CALLS} times` })
          if (!hold.isHeld()) throw new Error('The run is in other hands')
          try {
            if (journal && name.startsWith('step.')) return await journal.call(name, args, signal)
            return await perform({ run, method: methodFor(name), args, isLate: count > EASY_CALLS }, signal)
          } catch (error) {
            throw inItsWords(run, error, signal)
          }
        },
      }
    },
  }
}

/** Of a module that does not catch it, the message is all that its author sees. */
function withIssues(fault: Fault): Fault {
  const { issues = [] } = fault.data as { issues?: readonly Issue[] }
  if (issues.length === 0) return fault
  const told = issues
    .slice(0, MOST_ISSUES)
    .map(({ path = [], message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
  const message = `${fault.message}: ${told.join('; ')}`
  return new Fault(fault.code, fault.data, { message, cause: fault })
}
