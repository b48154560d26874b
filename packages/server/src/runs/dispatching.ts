import type { Runtime } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { isUnrevokedIn } from '../access/credentials.ts'
import { bySystem, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import { CANONICAL_REF } from '../extensions/canonical-ref.ts'
import type { Runnable } from '../extensions/runnable.ts'
import type { ExtensionsService } from '../extensions/service.ts'
import { Fault, forbidden } from '../platform/fault.ts'
import { placeOwnerOf } from '../repos/place-owner.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import type { Beginning } from './beginning.ts'
import { findCredentialOf } from './cancel-store.ts'
import { asked, causeOf, isEndless, type Origin, originOfChild } from './causes.ts'
import { MAX_INPUT_BYTES, type QueueRoom } from './queue-room.ts'
import type { SchemaChecks } from './schema-checks.ts'
import type { RunRow } from './store.ts'

interface Dispatch {
  extension: string
  input: unknown
  ref?: string | undefined
}

interface DispatchingDeps {
  database: Database
  events: EventsService
  repos: ReposService
  extensions: ExtensionsService
  checks: SchemaChecks
  beginning: Beginning
  queueRoom: QueueRoom
  runtimes: ReadonlySet<Runtime>
  /** Those of the others that nobody wants to be there. */
  switchedOff: ReadonlySet<Runtime>
}

export type Dispatching = ReturnType<typeof createDispatching>

/** Runs that somebody asks for: a caller, or another run. */
export function createDispatching(deps: DispatchingDeps) {
  const { database, events, repos, extensions, checks, beginning, queueRoom, runtimes, switchedOff } = deps

  async function queue(
    caller: Caller,
    repo: RepoRow,
    { extension, input, ref }: Dispatch,
    { origin, credentialId, signal }: { origin: Origin; credentialId: string | null; signal: AbortSignal },
  ): Promise<RunRow> {
    const target = await extensions.findRunnable(repo, { extension, ref }, signal)
    if (switchedOff.has(target.runtime)) throw new Fault('FEATURE_UNAVAILABLE', { feature: target.runtime })
    if (!target.dispatch || !runtimes.has(target.runtime)) throw rejected('not_dispatchable')
    requireNoMore(caller, target)
    const json = await checkedInput(repo, target, input)
    const isCanonical = ref === undefined && target.canonicalCommit !== null
    const run = {
      repo: { id: repo.id, orgId: repo.org_id, isProvisional: repo.expires_at !== null },
      target,
      trigger: 'dispatch' as const,
      actor: caller.actor,
      ref: isCanonical ? CANONICAL_REF : (ref ?? repo.default_branch),
      commit: target.commit,
      effective: target.effective,
      input: json,
      origin,
      credentialId,
    }
    return beginning.queue(run, async (tx) => {
      await requireStillIn(tx, caller)
      if ((await queueRoom.findIn(tx, run.repo)) < 1) throw rejected('queue_full')
    })
  }

  /** It may have taken a while to come here. */
  async function requireStillIn(tx: Tx, caller: Caller): Promise<void> {
    if (caller.requireGoingOnIn) return caller.requireGoingOnIn(tx)
    if (!(await isUnrevokedIn(tx, database.dialect, caller.credential)))
      throw new Fault('FORBIDDEN', {}, { message: 'The credential of this request has been revoked' })
  }

  async function checkedInput(repo: RepoRow, target: Runnable, input: unknown): Promise<string> {
    const json = jsonOf(input)
    if (json === undefined) throw rejected('input_invalid: it is nested too deeply')
    if (Buffer.byteLength(json) > MAX_INPUT_BYTES)
      throw rejected(`input_invalid: it has more than ${MAX_INPUT_BYTES} bytes`)
    if (json.includes('null') && hasLostNumber(input))
      throw rejected('input_invalid: it has a number beyond what can be kept, which is about 1.8e308')
    if (target.inputSchema === undefined) return json
    const owner = placeOwnerOf(repo)
    const problem = await checks.check(owner, { schema: target.inputSchema, value: json })
    if (problem) throw rejected(`input_invalid: ${problem}`)
    return json
  }

  return {
    async dispatch(
      caller: Caller,
      { name, ...dispatch }: Dispatch & { name: string },
      signal: AbortSignal,
    ): Promise<{ run: RunRow; repo: RepoRow }> {
      const { extension, ref } = dispatch
      const repo = await repos.open(caller, name, 'repo:write', (repo) =>
        extensions.findRunnable(repo, { extension, ref }, signal),
      )
      const asking = { origin: asked, credentialId: caller.credential.id, signal }
      return { run: await queue(caller, repo, dispatch, asking), repo }
    },

    /** `ctx.runs.dispatch`. One too many in a chain is told in the log, as what an event sets off is. */
    async dispatchFrom(
      parent: RunRow,
      {
        caller,
        repo,
        extension,
        input,
      }: { caller: Caller; repo: RepoRow; extension: string; input: unknown },
      signal: AbortSignal,
    ): Promise<RunRow> {
      const origin = originOfChild(parent)
      if (!isEndless(origin, extension)) {
        // What revokes that ends all of it.
        const credentialId = await findCredentialOf(database.db, parent.id)
        return queue(caller, repo, { extension, input }, { origin, credentialId, signal })
      }
      await database.transact(async (tx) => {
        await caller.requireGoingOnIn?.(tx)
        await events.append(tx, {
          ...bySystem,
          cause: causeOf(parent),
          scope: repoScope(repo.id),
          type: 'run.rejected',
          subject: extension,
          payload: { extension, reason: 'depth_exceeded' },
        })
      })
      throw rejected('depth_exceeded')
    },
  }
}

export const rejected = (reason: string) => new Fault('RUN_REJECTED', { reason })

/** What a token for some refs may do itself. */
const WITHIN_REFS = ['repo:read', 'records:read', 'records:write']

/**
 * What such a token may push it may also have written: by running it, it would move every ref, or learn what only the
 * canonical code was trusted with.
 */
function requireNoMore({ onlyRefs }: Caller, { commit, canonicalCommit, effective }: Runnable): void {
  if (!onlyRefs || commit === canonicalCommit) return
  const beyond = effective.filter((one) => !WITHIN_REFS.includes(one))
  if (beyond.length === 0) return
  throw forbidden(
    'scope_missing',
    `A token for some refs runs ${beyond.join(', ')} in the canonical commit alone, without "ref"`,
  )
}

/** `1e400` is a number in JSON, and infinite when it has been read: written again it would be null. */
function hasLostNumber(input: unknown): boolean {
  const open = [input]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'number' && !Number.isFinite(next)) return true
    if (typeof next === 'object' && next !== null) for (const one of Object.values(next)) open.push(one)
  }
  return false
}

/** Null says the same as nothing. Undefined for what goes too deep. */
function jsonOf(input: unknown): string | undefined {
  try {
    return JSON.stringify(input ?? {})
  } catch {
    return undefined
  }
}
