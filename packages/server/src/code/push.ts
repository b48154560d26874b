import type { Caller } from '../access/caller.ts'
import type { Oid, RefName } from '../git/names.ts'
import { describeUpdatesIn } from '../git/objects/push-facts.ts'
import { ObjectMissing } from '../git/objects/reader.ts'
import {
  findBrokenTips,
  ingestPack,
  isAllThereIs,
  PackRejected,
  type QuarantinedRepo,
} from '../git/packs/intake.ts'
import type { PackStore } from '../git/packs/pack-store.ts'
import { type WholePack, withWholePack } from '../git/packs/spooled-pack.ts'
import { formatPushProgress, formatPushReport, keepAlive } from '../git/protocol/push-report.ts'
import { type Push, type PushCommand, readPush } from '../git/protocol/push-request.ts'
import { allDone } from '../platform/all-done.ts'
import { Fault } from '../platform/fault.ts'
import { DatabaseUnavailable, NO_ROOM, outOfSpaceIn } from '../platform/outages.ts'
import { inPushReport } from '../platform/terminal-words.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Bytes } from './fetch.ts'
import type { IncomingRoom } from './incoming-room.ts'
import { type Landings, ObjectsPruned, type RefChange, type Refused } from './landing.ts'
import type { Makers } from './makers.ts'
import { factsOfMoves, movesToDescribe } from './move-facts.ts'
import { createPlainPushes, type Examined } from './plain-pushes.ts'
import { headRef, type Repositories } from './repositories.ts'

interface PushDeps {
  repositories: Repositories
  makers: Makers
  landings: Landings
  repos: ReposService
  packs: PackStore
  incoming: IncomingRoom
  limits: { pushBytes: number; refsPerPush: number }
  /** Where packs are kept that are still on their way. */
  spoolDir: string
  /** Hints that a repository has a new pack. */
  onLanded(repo: RepoRow): void
}

export type PushService = ReturnType<typeof createPushService>

/** A proxy takes silence for an end, mostly after a minute. */
const KEEP_ALIVE_MS = 5_000

const explanations: Record<Exclude<Refused, Fault>, string> = {
  stale: 'stale info: the ref has moved, fetch first',
  exists: 'the ref exists already, fetch first',
  obstructed: 'its name is inside, or contains, the name of another ref',
  atomic: 'atomic push failed',
}

export function createPushService(deps: PushDeps) {
  const { repositories, landings, repos, packs, incoming, limits, spoolDir, onLanded } = deps
  const plainPushes = createPlainPushes(deps)

  /** Takes the pack into quarantine and finds out what may move. Nothing is visible to anybody yet. */
  async function examine(
    repo: RepoRow,
    push: Push,
    quarantined: QuarantinedRepo,
    {
      pack: whole,
      maxBytes,
      onProgress,
    }: { pack: WholePack | undefined; maxBytes: number; onProgress(chunk: Buffer): void },
  ): Promise<Examined> {
    const refused = new Map<PushCommand, string>()
    for (const command of push.commands) if (command.problem) refused.set(command, command.problem)
    const wanted = push.commands.filter((command) => !refused.has(command))
    const { refs } = await repositories.refList(repo)
    const current = (name: RefName) => refs.find(name)?.oid
    const moves = movesToDescribe(repo, wanted, current)
    const tips = wanted.flatMap(({ after }) => after ?? [])
    const ingesting = whole
      ? ingestPack(quarantined, { pack: whole.input, maxBytes, onProgress })
      : Promise.resolve(undefined)
    const base = current(headRef(repo)) ?? null
    // Where all refs are at one commit, whatever is beyond it is new.
    const isAllInBase = Iterator.from(refs).every(({ oid }) => oid === base)
    const asked = { oids: tips, updates: moves, surroundings: { base, isNew: () => isAllInBase } }
    const describing = describeUpdatesIn(quarantined, { ...asked, there: ingesting })
    describing.catch(() => {})
    const ingested = await ingesting.catch(async (error: unknown) => {
      await Promise.allSettled([describing])
      if (error instanceof PackRejected) await requireSound(repo, error.cause)
      throw error
    })
    const inspect = async () => {
      const described = await describing
      const unclear = tips.filter((tip) => !described.whole.has(tip))
      const isWhole = unclear.length === 0 || (ingested?.isClosed && (await isAllThereIs(quarantined)))
      const broken = isWhole ? new Set<Oid>() : await findBrokenTips(quarantined, unclear)
      const isSound = (tip: Oid) => described.tips.get(tip)?.type === 'commit' && !broken.has(tip)
      const sound = moves.filter(({ after }) => isSound(after))
      const facts = await factsOfMoves(quarantined, sound, { base, described })
      return { described, broken, facts }
    }
    // Neither waits for the other, and nothing counts before both are done: a pack that nobody lists is swept away.
    const adopting = ingested?.hasObjects ? packs.adopt(quarantined.objectsDir) : undefined
    const both = allDone([inspect(), adopting]).catch(async (error: unknown) => {
      const adopted = await adopting?.catch(() => undefined)
      if (adopted) await packs.remove(adopted.packId)
      throw error
    })
    const [{ described, broken, facts }, pack] = await both
    if (broken.size > 0) await requireSound(repo, new ObjectMissing())
    const changes: RefChange[] = []
    for (const command of wanted) {
      const { ref, before, after } = command
      const { type = null, peeled = null } = (after && !broken.has(after) && described.tips.get(after)) || {}
      const known = facts.get(command)
      if (after && !type) refused.set(command, 'missing necessary objects')
      else if (known === 'over limit')
        refused.set(command, 'to look at what it changes takes more time or memory than is allowed here')
      else if (ref) changes.push({ ref, before, after, peeled, type, facts: known })
    }
    return { pack, unpackError: null, refused, changes }
  }

  /** What a client lacks may be what we have lost. */
  async function requireSound(repo: RepoRow, sign: unknown): Promise<void> {
    const reason = await repositories.diagnose(repo, sign)
    if (reason !== sign) throw reason
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
    /**
     * Answers a POST to git-receive-pack: progress through `write` while it works, and gives the report. The body may be
     * there as a whole already.
     */
    async receivePack(
      caller: Caller,
      repo: RepoRow,
      body: Bytes,
      { isWhole, signal, write }: { isWhole: boolean; signal: AbortSignal; write(chunk: Buffer): void },
    ): Promise<Buffer> {
      const push = await readPush(body)
      // A client that only tries whether it may push.
      if (push.commands.length === 0) return Buffer.alloc(0)
      const { capabilities } = push
      const left = await repos.findRoom(repo)
      const maxBytes = Math.min(limits.pushBytes, left)
      using room = incoming.open(repo.org_id, left)
      const onProgress = (chunk: Buffer | string) => write(formatPushProgress(capabilities, chunk))
      let seen = repo
      const examineWith = async (pack: WholePack | undefined) => {
        // The pack may have been long on its way; what is examined is what is there now.
        if (!isWhole) seen = (await repos.find(repo.id)) ?? repo
        const { inMemory } = pack ?? {}
        const plain = inMemory && (await plainPushes.examine(seen, push, { inMemory, maxBytes, signal }))
        if (plain) return plain
        return repositories.withQuarantine(seen, signal, (quarantined) =>
          examine(seen, push, quarantined, { pack, maxBytes, onProgress }),
        )
      }
      const takePush = async (): Promise<Examined> => {
        if (push.commands.length > limits.refsPerPush)
          return refuseAll(`a push may move up to ${limits.refsPerPush} refs: push them in parts`)
        return push.expectsPack
          ? withWholePack(push.pack, { dir: spoolDir, maxBytes, takeRoom: room.take, signal }, examineWith)
          : examineWith(undefined)
      }
      using _beat = every(KEEP_ALIVE_MS, () => write(keepAlive(capabilities)))
      const examined = await takePush().catch((error: unknown): Examined => {
        // Git shows its user nothing of an answer that is not a report.
        if (outOfSpaceIn(error)) return refuseAll(NO_ROOM)
        if (!(error instanceof PackRejected || error instanceof Fault)) throw error
        return refuseAll(error.message)
      })
      const landed = await land(caller, seen, push, examined).catch((error: unknown) => {
        // Made read-only or deleted in the meantime, or no room is left: said for every ref, in the report.
        if (error instanceof Fault) return inPushReport(error)
        if (error instanceof DatabaseUnavailable || error instanceof ObjectsPruned) return error.message
        if (outOfSpaceIn(error)) return NO_ROOM
        throw error
      })
      const isKept = typeof landed !== 'string' && [...landed.values()].includes(null)
      if (examined.pack && !isKept) await packs.remove(examined.pack.packId)
      const results = push.commands.map((command) => ({
        command,
        error: outcome(command, push, examined, landed),
      }))
      return formatPushReport({ capabilities, unpackError: examined.unpackError, results })
    },
  }
}

const refuseAll = (unpackError: string): Examined => ({
  pack: undefined,
  unpackError,
  refused: new Map(),
  changes: [],
})

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
  if (result instanceof Fault) return inPushReport(result)
  return result ? explanations[result] : null
}

function every(ms: number, tick: () => void): Disposable {
  const timer = setInterval(tick, ms)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
