import type { Caller } from '../access/caller.ts'
import { by } from '../events/service.ts'
import { Fault } from '../fault.ts'
import type { Repo } from '../git/command.ts'
import type { Oid, RefName } from '../git/names.ts'
import { findBrokenTips, ingestPack, PackRejected, type QuarantinedRepo } from '../git/pack-intake.ts'
import type { PackInfo, PackStore } from '../git/pack-store.ts'
import { describeTips, gatherFacts, type Tip } from '../git/push-facts.ts'
import { pushProgress, pushReport } from '../git/push-report.ts'
import { type Push, type PushCommand, readPush } from '../git/receive-pack.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Bytes } from './fetch.ts'
import type { Landings, RefChange, Refused } from './landing.ts'
import { headRef, type Repositories } from './repositories.ts'

export interface PushDeps {
  repositories: Repositories
  landings: Landings
  repos: ReposService
  packs: PackStore
  limits: { pushBytes: number }
  /** Hints that a repository has a new pack. */
  onLanded(repo: RepoRow): void
}

export type PushService = ReturnType<typeof createPushService>

/** Commits and paths are counted for this many branches of one push; finding them costs processes. */
const DESCRIBED_BRANCHES = 20

/** Refs only the server moves. */
const SERVER_REFS = 'refs/trellis/'

const explanations: Record<Refused, string> = {
  stale: 'stale info: the ref has moved, fetch first',
  exists: 'the ref exists already, fetch first',
  obstructed: 'its name is inside, or contains, the name of another ref',
  atomic: 'atomic push failed',
}

interface Examined {
  pack: PackInfo | undefined
  unpackError: string | null
  /** Refs that cannot move, with the reason. */
  refused: Map<PushCommand, string>
  changes: RefChange[]
}

export function createPushService({ repositories, landings, repos, packs, limits, onLanded }: PushDeps) {
  /** Takes the pack into quarantine and finds out what may move. Nothing is visible to anybody yet. */
  async function examine(
    repo: RepoRow,
    push: Push,
    { quarantined, opened }: { quarantined: QuarantinedRepo; opened: Repo },
    onProgress: (chunk: Buffer) => void,
  ): Promise<Examined> {
    const refused = new Map<PushCommand, string>()
    for (const command of push.commands) {
      const problem = command.problem ?? reasonAgainst(repo, command)
      if (problem) refused.set(command, problem)
    }
    let hasObjects = false
    if (push.expectsPack) {
      const maxBytes = Math.min(limits.pushBytes, await repos.findRoom(repo))
      try {
        hasObjects = await ingestPack(quarantined, { pack: push.pack, maxBytes, onProgress })
      } catch (error) {
        if (!(error instanceof PackRejected)) throw error
        return { pack: undefined, unpackError: error.message, refused, changes: [] }
      }
    }
    const wanted = push.commands.filter((command) => !refused.has(command))
    const tips = await checkTips(quarantined, wanted, refused)
    const pack = hasObjects ? await packs.adopt(quarantined.objects) : undefined
    const changes = await describeChanges(repo, { quarantined, opened }, wanted, tips, refused)
    return { pack, unpackError: null, refused, changes }
  }

  async function describeChanges(
    repo: RepoRow,
    { quarantined }: { quarantined: QuarantinedRepo; opened: Repo },
    wanted: PushCommand[],
    tips: Map<Oid, Tip>,
    refused: Map<PushCommand, string>,
  ): Promise<RefChange[]> {
    const current = new Map((await repositories.refs(repo)).map(({ name, oid }) => [name, oid]))
    const base = current.get(headRef(repo)) ?? null
    const changes: RefChange[] = []
    let described = 0
    for (const command of wanted) {
      const { ref, before, after } = command
      if (!ref || refused.has(command)) continue
      const isBranchMove =
        after !== null && ref.startsWith('refs/heads/') && current.get(ref) === (before ?? undefined)
      const facts =
        isBranchMove && described++ < DESCRIBED_BRANCHES
          ? await gatherFacts(quarantined, { before, after }, { base: before ? null : base })
          : undefined
      changes.push({ ref, before, after, peeled: (after && tips.get(after)?.peeled) ?? null, facts })
    }
    return changes
  }

  async function land(caller: Caller, repo: RepoRow, push: Push, examined: Examined) {
    const { pack, changes, refused } = examined
    const { atomic } = push.capabilities
    if (changes.length === 0 || (atomic && refused.size > 0)) return new Map<RefName, Refused | null>()
    const results = await landings.land({
      repo,
      author: by(caller),
      changes,
      pack,
      atomic,
      options: push.options,
    })
    if ([...results.values()].includes(null)) onLanded(repo)
    return results
  }

  return {
    /** Answers a POST to git-receive-pack through `write`: progress while it works, the report at the end. */
    async receivePack(
      caller: Caller,
      repo: RepoRow,
      body: Bytes,
      { signal, write }: { signal: AbortSignal; write(chunk: Buffer): void },
    ): Promise<void> {
      const push = await readPush(body)
      // A client that only tries whether it may push.
      if (push.commands.length === 0) return
      const { capabilities } = push
      const onProgress = (chunk: Buffer | string) => write(pushProgress(capabilities, chunk))

      const examined = await repositories.withQuarantine(repo, signal, (quarantined, opened) =>
        examine(repo, push, { quarantined, opened }, onProgress),
      )
      const landed = await land(caller, repo, push, examined).catch((error: unknown) => {
        // Made read-only or deleted in the meantime: said for every ref, in the report.
        if (error instanceof Fault) return error.message
        throw error
      })
      const results = push.commands.map((command) => ({
        command,
        error: outcome(command, push, examined, landed),
      }))
      write(pushReport({ capabilities, unpackError: examined.unpackError, results }))
    },
  }
}

function outcome(
  command: PushCommand,
  push: Push,
  { unpackError, refused }: Examined,
  landed: Map<RefName, Refused | null> | string,
): string | null {
  if (unpackError !== null) return 'unpacker error'
  const problem = refused.get(command)
  if (problem) return problem
  if (typeof landed === 'string') return landed
  if (push.capabilities.atomic && refused.size > 0) return explanations.atomic
  const result = command.ref && landed.get(command.ref)
  return result ? explanations[result] : null
}

function reasonAgainst(repo: RepoRow, { ref, after }: PushCommand): string | undefined {
  if (ref?.startsWith(SERVER_REFS)) return 'refs below refs/trellis/ are moved by the server alone'
  if (ref === headRef(repo) && after === null) return 'the default branch cannot be deleted'
  return undefined
}

/** A tip must be there with everything below it, and a branch must be a commit. */
async function checkTips(
  quarantined: QuarantinedRepo,
  wanted: PushCommand[],
  refused: Map<PushCommand, string>,
): Promise<Map<Oid, Tip>> {
  const oids = wanted.flatMap(({ after }) => after ?? [])
  if (oids.length === 0) return new Map()
  const broken = await findBrokenTips(quarantined, oids)
  const tips = await describeTips(
    quarantined,
    oids.filter((oid) => !broken.has(oid)),
  )
  for (const command of wanted) {
    const { ref, after } = command
    if (!after) continue
    const tip = tips.get(after)
    if (!tip) refused.set(command, 'missing necessary objects')
    else if (ref?.startsWith('refs/heads/') && tip.type !== 'commit')
      refused.set(command, 'a branch must be a commit')
  }
  return tips
}
