import type { Caller } from '../access/caller.ts'
import type { Oid, RefName } from '../git/names.ts'
import { describeUpdates, gatherFacts } from '../git/objects/push-facts.ts'
import { findBrokenTips, ingestPack, PackRejected, type QuarantinedRepo } from '../git/packs/intake.ts'
import type { PackInfo, PackStore } from '../git/packs/pack-store.ts'
import { formatPushProgress, formatPushReport } from '../git/protocol/push-report.ts'
import { type Push, type PushCommand, readPush } from '../git/protocol/push-request.ts'
import { Fault } from '../platform/fault.ts'
import { DatabaseUnavailable, NO_ROOM, outOfSpaceIn } from '../platform/outages.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Bytes } from './fetch.ts'
import type { Landings, RefChange, Refused } from './landing.ts'
import { inGitsReport, mindsForce } from './ref-rules.ts'
import { headRef, type Repositories } from './repositories.ts'

interface PushDeps {
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

const explanations: Record<Exclude<Refused, Fault>, string> = {
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
    quarantined: QuarantinedRepo,
    { isHere, onProgress }: { isHere: boolean; onProgress(chunk: Buffer): void },
  ): Promise<Examined> {
    const refused = new Map<PushCommand, string>()
    for (const command of push.commands) if (command.problem) refused.set(command, command.problem)
    const wanted = push.commands.filter((command) => !refused.has(command))
    const current = new Map((await repositories.refs(repo)).map(({ name, oid }) => [name, oid]))
    const moves = toDescribe(
      repo,
      wanted.filter((command) => isBranchMove(command, current)),
    )
    const tips = wanted.flatMap(({ after }) => after ?? [])
    const maxBytes = Math.min(limits.pushBytes, await repos.findRoom(repo))

    const ingesting = push.expectsPack
      ? ingestPack(quarantined, { pack: push.pack, maxBytes, onProgress })
      : Promise.resolve(false)
    // A process that waits is a slot of the pool, so only for a pack that does not keep it waiting. It is asked for
    // after the one it waits for.
    const asked = { oids: tips, updates: moves }
    const describing = isHere ? describeUpdates(quarantined, { ...asked, there: ingesting }) : undefined
    describing?.catch(() => {})
    let hasObjects: boolean
    try {
      hasObjects = await ingesting
    } catch (error) {
      await Promise.allSettled([describing])
      if (!(error instanceof PackRejected)) throw error
      return { pack: undefined, unpackError: error.message, refused, changes: [] }
    }
    const inspect = async () => {
      const described = await (describing ?? describeUpdates(quarantined, asked))
      const unclear = tips.filter((tip) => !described.whole.has(tip))
      return { described, broken: await findBrokenTips(quarantined, unclear) }
    }
    // Neither waits for the other, and nothing counts before both are done: a pack that nobody lists is swept away.
    const [{ described, broken }, pack] = await allDone(
      inspect(),
      hasObjects ? packs.adopt(quarantined.objectsDir) : undefined,
    )
    const changes: RefChange[] = []
    const base = current.get(headRef(repo)) ?? null
    for (const command of wanted) {
      const { ref, before, after } = command
      const tip = after && !broken.has(after) ? described.tips.get(after) : undefined
      if (after && !tip) refused.set(command, 'missing necessary objects')
      else if (ref) {
        const isCommit = tip?.type === 'commit'
        const move = isCommit ? moves.find((candidate) => candidate === command) : undefined
        const facts =
          move &&
          (described.facts.get(move) ??
            (await gatherFacts(quarantined, move, { base: before ? null : base })))
        changes.push({ ref, before, after, peeled: tip?.peeled ?? null, type: tip?.type ?? null, facts })
      }
    }
    return { pack, unpackError: null, refused, changes }
  }

  async function land(caller: Caller, repo: RepoRow, push: Push, examined: Examined) {
    const { pack, changes, refused } = examined
    const { atomic } = push.capabilities
    if (changes.length === 0 || (atomic && refused.size > 0)) return new Map<RefName, Refused | null>()
    const results = await landings.land({
      repo,
      mover: { caller, means: 'push' },
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
      // Whether all of the body has arrived.
      { isHere, signal, write }: { isHere(): boolean; signal: AbortSignal; write(chunk: Buffer): void },
    ): Promise<void> {
      const push = await readPush(body)
      // A client that only tries whether it may push.
      if (push.commands.length === 0) return
      const { capabilities } = push
      const onProgress = (chunk: Buffer | string) => write(formatPushProgress(capabilities, chunk))

      const examined = await repositories
        .withQuarantine(repo, signal, (quarantined) =>
          examine(repo, push, quarantined, { isHere: isHere(), onProgress }),
        )
        .catch((error: unknown): Examined => {
          if (!outOfSpaceIn(error)) throw error
          return { pack: undefined, unpackError: NO_ROOM, refused: new Map(), changes: [] }
        })
      const landed = await land(caller, repo, push, examined).catch((error: unknown) => {
        // Made read-only or deleted in the meantime: said for every ref, in the report.
        if (error instanceof Fault || error instanceof DatabaseUnavailable) return error.message
        if (outOfSpaceIn(error)) return NO_ROOM
        throw error
      })
      const results = push.commands.map((command) => ({
        command,
        error: outcome(command, push, examined, landed),
      }))
      write(formatPushReport({ capabilities, unpackError: examined.unpackError, results }))
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
  if (result instanceof Fault) return inGitsReport(result)
  return result ? explanations[result] : null
}

/** Not all of very many; then first those of which a rule asks whether they are forced. */
function toDescribe<Move extends PushCommand>(repo: RepoRow, moves: Move[]): Move[] {
  if (moves.length <= DESCRIBED_BRANCHES) return moves
  const isMinded = mindsForce(repo)
  const { first = [], rest = [] } = Object.groupBy(moves, ({ ref }) =>
    ref && isMinded(ref) ? 'first' : 'rest',
  )
  return [...first, ...rest].slice(0, DESCRIBED_BRANCHES)
}

/** A branch that is created or moved from where it is now. */
function isBranchMove(
  command: PushCommand,
  current: ReadonlyMap<RefName, Oid>,
): command is PushCommand & { after: Oid } {
  const { ref, before, after } = command
  return Boolean(after && ref?.startsWith('refs/heads/') && current.get(ref) === (before ?? undefined))
}

/** Like Promise.all, but a failure is thrown only when all have ended. */
async function allDone<T extends readonly unknown[]>(
  ...work: T
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
