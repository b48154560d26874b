import { actingOrg, type Caller } from '../../access/caller.ts'
import type { Hold } from '../../background/leased.ts'
import type { OrgsService } from '../../orgs/service.ts'
import { Fault, forbidden, invalid } from '../../platform/fault.ts'
import { createPlaces, NoPlace } from '../../platform/places.ts'
import type { RepoRow, ReposService } from '../../repos/service.ts'
import type { Host } from '../../runtime/runtime.ts'
import type { Db } from '../../schema.ts'
import { causeOf } from '../causes.ts'
import type { Journals } from '../journal.ts'
import type { RunRow } from '../store.ts'
import { isFetchFailed } from './fetching.ts'
import type { CtxMethod, CtxMethods } from './methods.ts'

/** Calls that are under way at once, in this process and for one organization. Others wait. */
const CALLS = 64
const CALLS_PER_ORG = 16
const MAX_WAITING = 1_000
/** Of one run. */
const MOST = 100_000

interface HostDeps {
  db: Db
  orgs: OrgsService
  repos: ReposService
  methods: CtxMethods
  journals: Journals
  complain(message: string, about: { error: unknown; run: string }): void
}

/**
 * The other side of `ctx`. Whatever a module does to its own side, here each call is asked for what the run was granted,
 * and then goes where the operation of the same name goes, as a caller who may do no more than that.
 */
export function createCtxHosts({ db, orgs, repos, methods, journals, complain }: HostDeps) {
  const places = createPlaces({ size: CALLS, perOwner: CALLS_PER_ORG, maxWaiting: MAX_WAITING })

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
    }
  }

  async function perform(
    run: RunRow,
    method: CtxMethod,
    args: readonly unknown[],
    signal: AbortSignal,
  ): Promise<unknown> {
    const repo = await repos.find(run.repo_id)
    if (!repo) throw new Fault('REPO_NOT_FOUND', { name: '' })
    const owner = { id: run.org_id, isProvisional: repo.expires_at !== null }
    using _place = await places.acquire(owner, signal)
    const caller = await callerFor(run, repo, method.writes ?? false)
    // Asked here for all, because not each of them writes to the repository itself.
    if (method.writes) repos.requireWritable(caller, repo)
    return method.perform({ run, repo, caller, args, signal })
  }

  /** What a module may know of a failure. */
  function inItsWords(run: RunRow, error: unknown, signal: AbortSignal): unknown {
    if (error instanceof Fault) return withReason(error)
    if (isFetchFailed(error) || signal.aborted) return error
    if (error instanceof NoPlace) return new Fault('TOO_MANY_REQUESTS', { retryAfterMs: error.retryAfterMs })
    complain('a call of a run failed', { error, run: run.id })
    return new Error('Something went wrong on our side')
  }

  return {
    /** For a run that is in somebody's hands: when it is not any more, nothing is done for it. */
    hostFor(run: RunRow, hold: Hold): Pick<Host, 'call'> {
      const capabilities = JSON.parse(run.effective) as string[]
      const isGranted = ({ needs }: CtxMethod) =>
        capabilities.some((one) => one === needs || (needs.endsWith(':') && one.startsWith(needs)))
      const journal = run.runtime === 'workflow' ? journals.openFor(run, hold) : undefined
      function methodFor(name: string): CtxMethod {
        const method = Object.hasOwn(methods, name) ? methods[name] : undefined
        if (!method) throw invalid([], `There is no ${name} on ctx`)
        if (isGranted(method)) return method
        throw forbidden('scope_missing', `${name} needs ${method.needs}, which was not granted`)
      }
      let count = 0
      return {
        async call(name, args, signal) {
          if (++count > MOST)
            throw new Fault('TOO_MANY_REQUESTS', {}, { message: `A run may call ${MOST} times` })
          if (!hold.isHeld()) throw new Error('The run is in other hands')
          try {
            if (journal && name.startsWith('step.')) return await journal.call(name, args, signal)
            return await perform(run, methodFor(name), args, signal)
          } catch (error) {
            throw inItsWords(run, error, signal)
          }
        },
      }
    },
  }
}

/** The message alone is what an author sees of an error that nobody catches. */
function withReason(fault: Fault): Fault {
  const issue = 'issues' in fault.data ? fault.data.issues?.[0] : undefined
  if (!issue) return fault
  const where = issue.path?.length ? ` at ${issue.path.join('.')}` : ''
  return new Fault(fault.code, fault.data, { message: `${fault.message}${where}: ${issue.message}` })
}
