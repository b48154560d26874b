import type { Author, NewEvent } from '../events/service.ts'
import { type RefName, shortRef } from '../git/names.ts'
import type { UpdateFacts } from '../git/objects/push-facts.ts'
import type { RefChange } from './landing.ts'

type RefEvent = Omit<NewEvent, 'scope'>

/** Of so many refs each has events of its own. */
const FEW = 20
/** Of a push of more these alone: every event is written for each webhook, too, and nobody else can write meanwhile. */
const TOLD_OF_MANY = 5
/** The others share events. How many each of those lists, and how many there are. */
const LISTED_REFS = 500
const SUMMARIES = 8
/** What an event lists, refs or paths: it is written for every webhook's sake too, and read by the page. */
const LISTED_BYTES = 96 * 1024

/** What moving refs tells the world: a push for each, and what came into being or went. Many refs share events. */
export function eventsOf(
  author: Author,
  moved: readonly RefChange[],
  { defaultBranch, options }: { defaultBranch: RefName; options: readonly string[] },
): RefEvent[] {
  const pushed = options.length > 0 ? { options } : {}
  // The default branch comes first, then those of which more is known than that they moved.
  const first = moved.filter(({ ref }) => ref === defaultBranch)
  const known = moved.filter(({ facts }) => facts)
  const toldAlone = moved.length > FEW ? TOLD_OF_MANY : FEW
  const told = new Set(new Set([...first, ...known, ...moved]).values().take(toldAlone))
  const one = moved.filter((change) => told.has(change)).flatMap((change) => tellOne(change, pushed))
  const many = tellMany(
    moved.filter((change) => !told.has(change)),
    pushed,
  )
  return [...one, ...many].map((event) => ({ ...author, ...event }))
}

type Told = Omit<RefEvent, keyof Author>
type PushOptions = { options?: readonly string[] }

function tellOne(change: RefChange, pushed: PushOptions): Told[] {
  const { ref, before, after, facts } = change
  const push: Told = {
    type: 'git.push',
    subject: ref,
    payload: {
      ref,
      before,
      after,
      created: before === null,
      deleted: after === null,
      ...(facts && {
        forced: !facts.fastForward,
        commitCount: facts.commitCount,
        ...listedPaths(facts),
      }),
      ...pushed,
    },
  }
  const type = lifecycleOf(change)
  if (!type) return [push]
  return [push, { type, subject: shortRef(ref).name, payload: { ref, oid: after ?? before } }]
}

/** A branch or a tag that came into being or went. */
function lifecycleOf({ ref, before, after }: RefChange): Told['type'] | undefined {
  const { type } = shortRef(ref)
  if (type === 'other' || (before && after)) return undefined
  return `git.${type}.${before === null ? 'created' : 'deleted'}`
}

function tellMany(changes: readonly RefChange[], pushed: PushOptions): Told[] {
  const pages = within(changes, ({ ref }) => Buffer.byteLength(ref) + 120)
  return pages.slice(0, SUMMARIES).flatMap((page, i) => {
    const refsTruncated = i === SUMMARIES - 1 && pages.length > SUMMARIES
    const refs = page.map(({ ref, before, after }) => ({ ref, before, after }))
    const push: Told = { type: 'git.push', payload: { refs, refsTruncated, ...pushed } }
    const lifecycle = Map.groupBy(page, lifecycleOf)
    const others = [...lifecycle].flatMap(([type, of]): Told[] =>
      type
        ? [
            {
              type,
              payload: {
                refs: of.map(({ ref, before, after }) => ({ ref, oid: after ?? before })),
                refsTruncated,
              },
            },
          ]
        : [],
    )
    return [push, ...others]
  })
}

function listedPaths({ changedPaths, pathsTruncated }: UpdateFacts) {
  const [paths = [], ...more] = within(changedPaths, Buffer.byteLength, changedPaths.length)
  return { paths, pathsTruncated: pathsTruncated || more.length > 0 }
}

/** Cut so that no page has too many, or takes too much. */
function within<T>(items: readonly T[], bytesOf: (item: T) => number, most = LISTED_REFS): T[][] {
  const pages: T[][] = []
  let bytes = 0
  for (const item of items) {
    const page = pages.at(-1)
    bytes += bytesOf(item)
    if (page && page.length < most && bytes <= LISTED_BYTES) page.push(item)
    else {
      pages.push([item])
      bytes = bytesOf(item)
    }
  }
  return pages
}
