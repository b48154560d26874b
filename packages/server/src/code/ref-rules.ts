import type { RefRefusals, RefRule, Role } from '@trellis/contract'
import { type Caller, can } from '../access/caller.ts'
import { compileRefPatterns, DEFAULT_BRANCH } from '../access/ref-patterns.ts'
import type { RefName } from '../git/names.ts'
import { type Fault, forbidden, invalid } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import type { RefChange } from './landing.ts'
import { headRef, SERVER_REFS } from './repositories.ts'

/** How a ref is to be moved. */
export type Means = 'push' | 'operation' | 'merge'

export interface Mover {
  caller: Caller
  means: Means
}

type Refusable = keyof RefRefusals

/** Written without its kind, such a ref looks like one of the server's. Those that there are may go. */
const MISTAKABLE = [`refs/heads/${SERVER_REFS}`, `refs/tags/${SERVER_REFS}`]

const forAdmins = { except: ['admin' satisfies Role] }

/** What every repository starts with: the default branch loses nothing by accident. */
const STARTING_RULES: readonly RefRule[] = [
  { pattern: DEFAULT_BRANCH, refuse: { force: forAdmins, delete: forAdmins } },
]

export const rulesOf = ({ ref_rules }: Pick<RepoRow, 'ref_rules'>): readonly RefRule[] =>
  ref_rules === null ? STARTING_RULES : JSON.parse(ref_rules)

/** Says of each change why it may not be made, or undefined. */
export type RefRules = (change: RefChange) => Fault | undefined

/**
 * All that is ever asked about whether a ref may move, however it is to be moved. Whether it can
 * (where it is now, what its name obstructs, which objects are there) is found out elsewhere.
 */
export function refRulesFor({ caller, means }: Mover, repo: RepoRow): RefRules {
  const defaultBranch = headRef(repo)
  const rules = rulesOf(repo).map(({ pattern, refuse }) => ({
    pattern,
    refuse,
    matches: compileRefPatterns([pattern]),
  }))
  const mayMove = caller.onlyRefs && compileRefPatterns(caller.onlyRefs)

  return (change) => {
    const { ref } = change
    if (ref.startsWith(SERVER_REFS))
      return invalid(['ref'], `Refs below ${SERVER_REFS} are moved by the server alone`)
    if (!change.before && MISTAKABLE.some((prefix) => ref.startsWith(prefix)))
      return invalid(
        ['ref'],
        `Short names that begin with ${SERVER_REFS} would be taken for the server's own`,
      )
    if (change.after && change.type !== 'commit' && ref.startsWith('refs/heads/'))
      return invalid(['oid'], 'A branch must be a commit')
    if (mayMove && !mayMove(ref, defaultBranch))
      return forbidden('scope_missing', `This token may move ${caller.onlyRefs?.join(', ')} and nothing else`)

    for (const { pattern, refuse, matches } of rules) {
      if (matches(ref, defaultBranch) === false) continue
      for (const action of actionsOf(change, means)) {
        const exception = refuse[action]
        if (!exception || isExcepted(caller, exception.except)) continue
        const told = explain(action, change, { pattern, ...exception })
        if (!isWeakened(caller, exception.except)) return forbidden('insufficient_role', told)
        return forbidden('scope_missing', `${told}, and this credential lacks the scope repo:admin`)
      }
    }
    return undefined
  }
}

/** Of which refs a rule asks whether they are forced: to find that out takes a look at their history. */
export function mindsForce(repo: RepoRow): (ref: RefName) => boolean {
  const defaultBranch = headRef(repo)
  const minding = rulesOf(repo).filter(({ refuse }) => refuse.force)
  const matchers = minding.map(({ pattern }) => compileRefPatterns([pattern]))
  return (ref) => matchers.some((matches) => matches(ref, defaultBranch) !== false)
}

function actionsOf(change: RefChange, means: Means): Refusable[] {
  const { before, after } = change
  const actions: Refusable[] = means === 'merge' ? [] : ['push']
  if (!before) actions.push('create')
  else if (!after) actions.push('delete')
  else if (!isFastForward(change)) actions.push('force')
  return actions
}

/** Of a branch whose history was not looked at it cannot be said, and of anything else there is no such thing. */
const isFastForward = ({ facts }: RefChange): boolean => facts?.fastForward ?? false

const rank: Record<Role, number> = { member: 0, admin: 1, owner: 2 }

/** A credential that may not administrate the repository counts as a member's, whoever holds it. */
function isExcepted(caller: Caller, except: readonly string[]): boolean {
  const role: Role = can(caller, 'repo:admin') ? caller.role : 'member'
  return except.some((entry) =>
    isRole(entry) ? isAtLeast(role, entry) : entry === caller.credential.id || entry === caller.actor.id,
  )
}

/** Whether whoever holds the credential is excepted, and the credential is not. */
const isWeakened = (caller: Caller, except: readonly string[]): boolean =>
  except.some((entry) => isRole(entry) && isAtLeast(caller.role, entry))

const isAtLeast = (role: Role, other: Role): boolean => rank[role] >= rank[other]

export const isRole = (text: string): text is Role => Object.hasOwn(rank, text)

/** What a person reads at a terminal. */
function explain(
  action: Refusable,
  { ref, facts }: RefChange,
  { pattern, except }: { pattern: string; except: readonly string[] },
): string {
  const isUnknown = action === 'force' && ref.startsWith('refs/heads/') && !facts
  const what = {
    create: 'creating this ref is refused',
    delete: 'deleting this ref is refused',
    force: isUnknown
      ? 'whether this is forced could not be told among so many branches: push it by itself'
      : 'moving this ref other than straight ahead is refused (force push)',
    push: 'this ref is only moved by merging (git/merge)',
  }[action]
  const roles = except.filter(isRole)
  const who = roles.length > 0 ? `; allowed for ${roles.map((role) => `${role}s`).join(' and ')}` : ''
  const where = pattern === DEFAULT_BRANCH ? 'the default branch' : pattern
  return `${what} by the rule for ${where}${who}`
}
