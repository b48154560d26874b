// What is said of the branches that a push moves: how many commits they gain, and which paths change.

import type { Oid, RefName } from '../git/names.ts'
import {
  type Described,
  gatherFacts,
  gatherShared,
  type UpdateFacts,
  wayOf,
} from '../git/objects/push-facts.ts'
import { GitOverLimit } from '../git/process/allowances.ts'
import type { OpenRepo } from '../git/process/command.ts'
import type { PushCommand } from '../git/protocol/push-request.ts'
import { allDone } from '../platform/all-done.ts'
import type { RepoRow } from '../repos/service.ts'
import { mindsForce } from './ref-rules.ts'
import { headRef } from './repositories.ts'

/** A branch that is created, or moved from where it is now. */
export type Move = PushCommand & { after: Oid }

/** Commits and paths are counted for this many branches of one push; finding them costs processes. */
const DESCRIBED_BRANCHES = 20
const GATHERED_AT_ONCE = 3

/** Not all of very many; then first the default branch, and those of which a rule asks whether they are forced. */
export function movesToDescribe(
  repo: RepoRow,
  commands: readonly PushCommand[],
  current: (name: RefName) => Oid | undefined,
): Move[] {
  const moves = commands.filter((command) => isBranchMove(command, current))
  if (moves.length <= DESCRIBED_BRANCHES) return moves
  const isMinded = mindsForce(repo)
  const defaultBranch = headRef(repo)
  const groups = Object.groupBy(moves, ({ ref }) => {
    if (ref === defaultBranch) return 'default'
    return ref && isMinded(ref) ? 'minded' : 'rest'
  })
  const { default: first = [], minded = [], rest = [] } = groups
  return [...first, ...minded, ...rest].slice(0, DESCRIBED_BRANCHES)
}

function isBranchMove(command: PushCommand, current: (name: RefName) => Oid | undefined): command is Move {
  const { ref, before, after } = command
  return Boolean(after && ref?.startsWith('refs/heads/') && current(ref) === (before ?? undefined))
}

type FactsFound = UpdateFacts | 'over limit'

/**
 * Through git, but for those that are known. A few hundred bytes of trees can hold more paths than there is memory for:
 * at such nobody could look.
 */
export async function factsOfMoves(
  repo: OpenRepo,
  moves: readonly Move[],
  { base, described }: { base: Oid | null; described: Pick<Described<Move>, 'facts' | 'trees'> },
): Promise<Map<PushCommand, FactsFound>> {
  const known = described.facts
  const facts = new Map<PushCommand, FactsFound>()
  const created = moves.flatMap((move) => (known.has(move) || move.before ? [] : [move.after]))
  // Of branches that are held against another, only the commits are found together.
  const trees = base ? new Map<Oid, Oid>() : described.trees
  const found = created.length > 1 ? await withinLimits(gatherShared(repo, created, trees)) : undefined
  const shared = found === 'over limit' ? undefined : found
  // Of branches that move in the same way the same is to be said.
  const ways = new Map(moves.filter((move) => !known.has(move)).map((move) => [wayOf(move), move]))
  const gathered = new Map<string, FactsFound>()
  const left = [...ways]
  async function gather(): Promise<void> {
    for (let next = left.shift(); next; next = left.shift()) {
      const [way, { before, after }] = next
      const options = { base: before ? null : base, known: shared }
      gathered.set(way, await withinLimits(gatherFacts(repo, { before, after }, options)))
    }
  }
  // None goes on when this is over.
  await allDone(Array.from({ length: GATHERED_AT_ONCE }, gather))
  for (const move of moves) {
    const found = known.get(move) ?? gathered.get(wayOf(move))
    if (found) facts.set(move, found)
  }
  return facts
}

async function withinLimits<T>(work: Promise<T>): Promise<T | 'over limit'> {
  try {
    return await work
  } catch (error) {
    if (error instanceof GitOverLimit) return 'over limit'
    throw error
  }
}
