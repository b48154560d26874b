import { setTimeout as sleep } from 'node:timers/promises'
import type { Hold } from '../background/leased.ts'
import type { Appending } from '../events/service.ts'
import type { ExtensionsService } from '../extensions/service.ts'
import type { OrgsService } from '../orgs/service.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoSecrets } from '../repo-secrets/service.ts'
import { placeOwnerOf } from '../repos/place-owner.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import { type Blank, createBlank } from '../runtime/ctx/blanking.ts'
import type { Host, Job, Outcome, Runtimes } from '../runtime/runtime.ts'
import type { Database, Tx } from '../schema.ts'
import { isGoingOn } from './cancel-store.ts'
import { InOtherHands } from './cancels.ts'
import { ancestorsOf } from './causes.ts'
import type { RunLog, RunLogs } from './logging.ts'
import { judge, type Verdict } from './outcomes.ts'
import type { SchemaChecks } from './schema-checks.ts'
import type { RunRow } from './store.ts'
import type { Transitions } from './transitions.ts'

interface ExecutingDeps {
  database: Database
  events: Appending
  orgs: OrgsService
  repos: ReposService
  extensions: ExtensionsService
  secrets: RepoSecrets
  transitions: Transitions
  logs: RunLogs
  checks: SchemaChecks
  runtimes: Runtimes
  timeoutMs(runtime: RunRow['runtime']): number
  /** What of `ctx` is answered here. */
  hostFor(run: RunRow, hold: Hold, blank: Blank): Pick<Host, 'call'>
  onEnded(run: RunRow): void
  complain(message: string, about: { error: unknown; run: string }): void
}

/** A runtime that could not begin may have had bad luck. */
const ATTEMPTS = 3
const PAUSE_MS = 200
const WRITE_AGAIN_MS = 1_000

/** Runs one run that was taken out of its queue, and writes down how it ended. */
export function createExecution(deps: ExecutingDeps) {
  const { database, events, orgs, repos, extensions, secrets, transitions, logs, checks, complain } = deps

  async function run(run: RunRow, hold: Hold, cancelled: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([cancelled, hold.abort])
    let blank = createBlank([])
    let log: RunLog | undefined
    let verdict: Verdict
    try {
      const repo = await repos.find(run.repo_id)
      // It goes with its repository.
      if (!repo) return
      // Asked for while it waited.
      if (run.cancel_requested_at !== null) return await end(run, hold, cancelledVerdict, undefined)
      const wanted = secretsIn(run)
      // What it was given cannot be taken back.
      if (wanted.length > 0 && !(await isGoingOn(database.db, run.id)))
        return await end(run, hold, cancelledVerdict, undefined)
      const granted = await secrets.reveal(repo.id, wanted)
      blank = createBlank(Object.values(granted))
      log = logs.open(run, hold.workerId, blank)
      const outcome = await begin({ run, repo, granted, blank, log, hold, signal })
      if (outcome.kind === 'suspended' && !cancelled.aborted) return await fallAsleep(run, hold, log)
      verdict = await judge(run, outcome, { blank, checks })
      if (outcome.kind === 'threw' && outcome.stack) log.writeStack(outcome.stack)
    } catch (error) {
      if (!(error instanceof Fault) && !signal.aborted)
        complain('a run could not be run', { error, run: run.id })
      verdict = failed(error instanceof Fault ? error.message : 'It could not be run: the server failed')
    }
    // Also when it is the same worker that has it again.
    if (cancelled.reason instanceof InOtherHands) return
    if (cancelled.aborted) verdict = cancelledVerdict
    else if ((hold.abort.aborted || !hold.isHeld()) && verdict.status === 'failed') {
      if (await release(run, hold.workerId)) return
      verdict = failed('The server was stopped, or was silent for too long, before it ended')
    }
    await end(run, hold, verdict, log)
  }

  async function begin({
    run,
    repo,
    granted,
    blank,
    log,
    hold,
    signal,
  }: {
    run: RunRow
    repo: RepoRow
    granted: Record<string, string>
    blank: Blank
    log: RunLog
    hold: Hold
    signal: AbortSignal
  }): Promise<Outcome> {
    const runtime = deps.runtimes[run.runtime]
    if (!runtime) return { kind: 'ended', error: `The ${run.runtime} runtime is not available here` }
    // Of all others it was checked before, and of almost all of these.
    if (run.trigger_kind === 'daemon' && run.input_schema !== null) {
      const owner = placeOwnerOf(repo)
      const problem = await checks.check(owner, { schema: run.input_schema, value: run.input })
      if (problem) return { kind: 'ended', error: `input_invalid: ${problem}` }
    }
    const { extension, module_commit: commit, module_hash: hash } = run
    const module = await extensions.openModule(repo, { extension, commit, hash }, signal)
    const job: Job = {
      runId: run.id,
      orgId: run.org_id,
      repoId: run.repo_id,
      module,
      tree: run.commit_sha ?? run.module_commit,
      input: JSON.parse(run.input),
      run: seenBy(run, repo, (await orgs.find(database.db, repo.org_id))?.slug ?? ''),
      capabilities: JSON.parse(run.effective),
      secrets: granted,
      timeoutMs: deps.timeoutMs(run.runtime),
      ...(run.runtime === 'workflow' && { workflow: { startedAt: run.started_at ?? run.created_at } }),
    }
    const host: Host = { ...deps.hostFor(run, hold, blank), log: (line) => log.write(line) }
    for (let attempt = 1; ; attempt++) {
      const outcome = await runtime.run(job, host, signal)
      if (outcome.kind !== 'not begun' || attempt === ATTEMPTS || signal.aborted) return outcome
      await sleep(PAUSE_MS * attempt, undefined, { signal }).catch(() => {})
    }
  }

  /** A workflow has nothing to do for now. It costs a row until it goes on. */
  async function fallAsleep(run: RunRow, hold: Hold, log: RunLog): Promise<void> {
    const { workerId } = hold
    const said = await log.take()
    await insist(run, hold, (tx) => transitions.sleepIn(tx, events, run, { workerId, ...said }))
  }

  /** A workflow can go on from its last step; of anything else nobody knows how far it came. */
  const release = async (run: RunRow, workerId: string): Promise<boolean> =>
    run.runtime === 'workflow' &&
    (await database.transact((tx) => transitions.releaseIn(tx, events, run, workerId)))

  async function end(run: RunRow, hold: Hold, verdict: Verdict, log: RunLog | undefined): Promise<void> {
    const { lines, logBytes } = (await log?.take()) ?? { lines: [], logBytes: run.log_bytes }
    const ended = { ...verdict, id: run.id, workerId: hold.workerId, lines, logBytes }
    if (await insist(run, hold, (tx) => transitions.endIn(tx, events, run, ended)))
      deps.onEnded({ ...run, status: verdict.status })
  }

  /** Whatever becomes of the database meanwhile, as long as the run is ours. */
  async function insist<T>(run: RunRow, hold: Hold, write: (tx: Tx) => Promise<T>): Promise<T> {
    for (;;)
      try {
        return await database.transact(write)
      } catch (error) {
        if (!hold.isHeld() || hold.abort.aborted) throw error
        complain('the end of a run could not be written down', { error, run: run.id })
        await sleep(WRITE_AGAIN_MS)
      }
  }

  return {
    run,

    /** What a process left behind that died over it. */
    async takeOver(run: RunRow): Promise<void> {
      if (run.worker_id === null || (await release(run, run.worker_id))) return
      const verdict =
        run.cancel_requested_at === null
          ? failed('The server that ran it was stopped, or could not be reached any more')
          : cancelledVerdict
      const ended = { ...verdict, id: run.id, workerId: run.worker_id, lines: [], logBytes: run.log_bytes }
      if (await database.transact((tx) => transitions.endIn(tx, events, run, ended)))
        deps.onEnded({ ...run, status: verdict.status })
    },
  }
}

const failed = (error: string | null): Verdict => ({ status: 'failed', error, exitCode: null, output: null })

const cancelledVerdict: Verdict = { ...failed(null), status: 'cancelled' }

const SECRET = 'secret:'

const secretsIn = ({ effective }: RunRow): string[] =>
  (JSON.parse(effective) as string[]).flatMap((capability) =>
    capability.startsWith(SECRET) ? [capability.slice(SECRET.length)] : [],
  )

/** What the module sees as `ctx.run`. */
function seenBy(run: RunRow, repo: RepoRow, owner: string): Job['run'] {
  const ancestors = ancestorsOf(run)
  const parent = ancestors.at(-1)
  return {
    id: run.id,
    trigger: run.trigger_kind,
    ref: run.ref,
    commitSha: run.commit_sha,
    repo: { id: repo.id, name: repo.name, owner },
    actor: { kind: run.actor_kind, id: run.actor_id },
    cause:
      run.cause_event_id === null && !parent
        ? null
        : {
            ...(run.cause_event_id !== null && { eventId: run.cause_event_id }),
            runId: parent?.id ?? null,
            depth: run.depth,
            chain: ancestors.map(({ id }) => id),
            rootEventId: run.root_event_id,
          },
  }
}
