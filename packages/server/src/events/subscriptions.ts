import type { Actor, Issue, Subscription } from '@trellis/contract'
import { type RefName, shortRef } from '../git/names.ts'
import { type Effort, globProblem, globs } from '../platform/globs.ts'

/** What a subscription looks at. */
export interface Happening {
  type: string
  actor: Actor
  subject?: string | undefined
  payload?: unknown
}

/** Whether it listens; when finding out would take more than the effort, it does. */
export type Listens = (happening: Happening, effort?: Effort) => boolean

/** What a push says about itself, as far as subscriptions care. */
interface PushPayload {
  ref: string
  deleted?: boolean
  paths?: readonly string[]
  pathsTruncated?: boolean
}

/** What an event says that tells of many refs at once. */
interface ManyRefs {
  refs: readonly { ref: RefName; after?: string | null }[]
  /** There are more than it lists. */
  refsTruncated: boolean
}

const BRANCHES = 'refs/heads/'
const MAX_PATTERNS = 64
/** Of all patterns of a subscription together. */
const MAX_CHARACTERS = 2048

/** Everything that is wrong with the patterns of a subscription, each at its place below `path`. */
export function subscriptionIssues(on: Subscription, path: readonly (string | number)[]): Issue[] {
  const lists = [
    { at: ['push', 'branches'], patterns: on.push?.branches },
    { at: ['push', 'paths'], patterns: on.push?.paths },
    { at: ['event', 'types'], patterns: on.event?.types },
  ]
  const issues = lists.flatMap(({ at, patterns = [] }) =>
    patterns.length > MAX_PATTERNS
      ? [{ path: [...path, ...at], message: `There may be up to ${MAX_PATTERNS} patterns` }]
      : patterns.flatMap((pattern, i) => {
          const message = globProblem(pattern)
          return message ? [{ path: [...path, ...at, i], message }] : []
        }),
  )
  const characters = lists.reduce((sum, { patterns = [] }) => sum + patterns.join('').length, 0)
  if (characters > MAX_CHARACTERS)
    issues.push({
      path: [...path],
      message: `All patterns may have up to ${MAX_CHARACTERS} characters together`,
    })
  const subject = on.event?.subject === undefined ? undefined : globProblem(on.event.subject)
  if (subject) issues.push({ path: [...path, 'event', 'subject'], message: subject })
  return issues
}

/** Compiled once, asked for every event. A subscription that names nothing listens to everything. */
export function compileSubscription({ push, event }: Subscription): Listens {
  if (!push && !event) return () => true
  const toPush = push ? compilePush(push) : never
  const toEvent = event ? compileEvent(event) : never
  return (happening, effort) => toPush(happening, effort) || toEvent(happening, effort)
}

const never = () => false
const always = () => true

function compilePush({ branches, paths }: NonNullable<Subscription['push']>): Listens {
  // Who always sends both lists leaves one empty for no filter.
  const isBranch = branches?.length ? globs(branches) : undefined
  const isPath = paths?.length ? globs(paths) : undefined
  return ({ type, payload }, effort) => {
    if (type !== 'git.push') return false
    const isHeard = (ref: string) =>
      !isBranch || (ref.startsWith(BRANCHES) && isBranch(ref.slice(BRANCHES.length), effort))
    const many = manyIn(payload)
    // Only branches change paths, and of none of these they are known. One that goes changes none.
    const mayChange = (ref: string, isGone: boolean) => !isPath || (ref.startsWith(BRANCHES) && !isGone)
    if (many)
      return (
        many.refsTruncated ||
        many.refs.some(({ ref, after }) => mayChange(ref, after === null) && isHeard(ref))
      )
    const push = payload as PushPayload
    if (!isHeard(push.ref) || !mayChange(push.ref, push.deleted === true)) return false
    if (!isPath) return true
    // Where not all paths are known, one too many is better than one too few.
    return !push.paths || push.pathsTruncated === true || push.paths.some((path) => isPath(path, effort))
  }
}

function compileEvent({ types, subject, from }: NonNullable<Subscription['event']>): Listens {
  const { has } = compileTypes(types)
  const isSubject = subject === undefined ? always : globs([subject])
  return (happening, effort) =>
    has(happening.type, effort) &&
    isAbout(happening, (subject) => isSubject(subject, effort)) &&
    (from === undefined || isFrom(from, happening.actor))
}

/** Types of events, by name and by pattern. */
export function compileTypes(types: readonly string[]): {
  /** They are all names, so that they can be asked for. */
  areNames: boolean
  has(type: string, effort?: Effort): boolean
} {
  const exact = new Set(types)
  const patterns = types.filter((type) => /[*?[{!]/.test(type))
  const isLike = patterns.length ? globs(patterns) : never
  return {
    areNames: patterns.length === 0,
    has: (type, effort) => exact.has(type) || isLike(type, effort),
  }
}

function isAbout({ type, subject, payload }: Happening, isSubject: (subject: string) => boolean): boolean {
  const many = manyIn(payload)
  if (!many) return isSubject(subject ?? '')
  const subjectOf = (ref: RefName) => (type === 'git.push' ? ref : shortRef(ref).name)
  return many.refsTruncated || many.refs.some(({ ref }) => isSubject(subjectOf(ref)))
}

const manyIn = (payload: unknown): ManyRefs | undefined =>
  typeof payload === 'object' && payload !== null && 'refsTruncated' in payload
    ? (payload as ManyRefs)
    : undefined

/** A kind (`agent`), an id (`usr_…`), or both (`agent:reg_…`). */
const isFrom = (from: string, { kind, id }: Actor): boolean =>
  from === kind || from === id || from === `${kind}:${id}`
