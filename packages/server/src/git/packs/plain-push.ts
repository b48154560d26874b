// A small push of branches that move straight ahead, looked at without git: its pack is read and every object in it
// checked here, if all are plain. What is taken here git would take as well; whatever is not surely understood is for git.

import { createPauses } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import { type ObjectType, parseCommit, parseTree } from '../objects/format.ts'
import { arePlainAttributes, linksOfPlain } from '../objects/plain-objects.ts'
import { type BranchUpdate, type Described, describeUpdates, type TipReader } from '../objects/push-facts.ts'
import type { ObjectReader } from '../objects/reader.ts'
import { createWalks } from '../objects/walk/walks.ts'
import { type PackedObject, readSmallPack } from './small-pack.ts'

const MAX_BASE_BYTES = 512 * 1024
const MAX_ATTRIBUTES_BYTES = 1024 * 1024
/** How many objects may be named that the pack does not bring. */
const MAX_NEEDED = 5000
/**
 * How far all new branches of a push together are followed. Most left the default branch lately; twenty that never were
 * on it had a long history walked twenty times for three kilobytes.
 */
const MAX_WALKED = 1000

/** How many directories are looked at that a branch had before. */
const MAX_BEFORE = 100

type Links = NonNullable<ReturnType<typeof linksOfPlain>>['links']

/** What a push brings, each of it plain by itself. */
interface PlainPack {
  objects: readonly PackedObject[]
  brought: ReadonlyMap<Oid, PackedObject>
  linksOf: ReadonlyMap<Oid, Links>
  /** What is named and not brought. */
  needed: ReadonlyMap<Oid, ObjectType>
  /** Blobs that git reads as attributes. */
  attributes: ReadonlySet<Oid>
}

/** `updates` are all that moves, each from where the branch is now; `base` is the tip of the default branch. */
interface Asked<Update> {
  updates: readonly Update[]
  base: Oid | null
  signal?: AbortSignal | undefined
}

/** What can be said of it by itself. Undefined where git has to look at it. */
export async function readPlainPack(pack: Buffer, stored: ObjectReader): Promise<PlainPack | undefined> {
  const objects = await readSmallPack(pack, (oid) => findBase(stored, oid))
  if (!objects) return undefined
  const brought = new Map(objects.map((object) => [object.oid, object]))
  const linksOf = new Map<Oid, Links>()
  const needed = new Map<Oid, ObjectType>()
  const attributes = new Set<Oid>()
  const pause = createPauses()
  for (const { oid, type, content } of objects) {
    await pause()
    const plain = linksOfPlain(type, content)
    if (!plain || needed.size > MAX_NEEDED) return undefined
    for (const link of plain.links) {
      const found = brought.get(link.oid)?.type ?? needed.get(link.oid) ?? link.type
      if (found !== link.type) return undefined
      if (!brought.has(link.oid)) needed.set(link.oid, link.type)
    }
    linksOf.set(oid, plain.links)
    for (const oid of plain.attributes) attributes.add(oid)
  }
  return { objects, brought, linksOf, needed, attributes }
}

/** Undefined where git has to look at it: whatever is described here git would take. */
export async function describePlainPush<Update extends BranchUpdate>(
  pack: PlainPack,
  stored: ObjectReader,
  { updates, base, signal }: Asked<Update>,
): Promise<Described<Update> | undefined> {
  const known = await findKnown(pack, stored, updates)
  if (!known) return undefined
  const { brought } = pack
  const walks = createWalks(stored, signal, MAX_WALKED)
  const described = await describeUpdates(withBrought(stored, brought), {
    oids: updates.map(({ after }) => after),
    updates,
    surroundings: {
      base,
      isNew: (oid) => brought.has(oid) && !known.has(oid),
      leftBaseAt: async (oid) =>
        oid === null || (base !== null && (await walks.isAncestor(oid, base)) === true),
    },
  })
  const isUnderstood = updates.every(
    (update) => described.facts.has(update) && described.whole.has(update.after),
  )
  return isUnderstood ? described : undefined
}

/**
 * What of it was there before, byte for byte: whoever words a commit anew sends its files once more. Undefined where
 * something that it names is not there.
 */
async function findKnown(
  pack: PlainPack,
  stored: ObjectReader,
  updates: readonly BranchUpdate[],
): Promise<Set<Oid> | undefined> {
  const { brought, needed, attributes } = pack
  const before = await findThereBefore(pack, stored, updates)
  const unknown = [...needed].filter(([oid, type]) => before.get(oid) !== type)
  const infos = await stored.listInfo([...brought.keys(), ...unknown.map(([oid]) => oid)])
  if (!unknown.every(([, type], i) => infos[brought.size + i]?.type === type)) return undefined
  for (const oid of attributes) {
    const content = brought.get(oid)?.content ?? (await stored.findBlob(oid, MAX_ATTRIBUTES_BYTES))
    if (!content || !arePlainAttributes(content)) return undefined
  }
  const known = new Set<Oid>()
  for (const [i, object] of [...brought.values()].entries()) {
    if (!infos[i]) continue
    if (!(await isStored(object, stored))) return undefined
    known.add(object.oid)
  }
  return known
}

async function isStored({ oid, type, content }: PackedObject, stored: ObjectReader): Promise<boolean> {
  if (type === 'tag') return false
  const found = await (type === 'blob' ? stored.findBlob(oid, content.length) : stored.findBytes(oid, type))
  return found?.equals(content) ?? false
}

/**
 * What the directories name that were where new ones are: most of what those name. It is there, as everything is that a
 * branch leads to, and to look for it one by one takes longer than all else.
 */
async function findThereBefore(
  { brought, linksOf }: PlainPack,
  stored: ObjectReader,
  updates: readonly BranchUpdate[],
): Promise<Map<Oid, ObjectType>> {
  const there = new Map<Oid, ObjectType>()
  let left = MAX_BEFORE
  for (const { before, after } of updates) {
    const commit = before ? await stored.findCommit(before) : undefined
    if (!before || !commit) continue
    there.set(before, 'commit')
    let [olds, news] = [[commit.tree], broughtTrees(linksOf.get(after) ?? [])]
    // Down, as long as something is new there and something else was.
    while (news.length > 0 && olds.length > 0) {
      const named = news.flatMap((oid) => linksOf.get(oid) ?? [])
      const isNamed = new Set(named.map(({ oid }) => oid))
      const below: Oid[] = []
      for (const tree of olds) {
        if (--left < 0 || there.size > MAX_NEEDED) return there
        for (const { oid, type } of (await stored.findTree(tree)) ?? []) {
          // The commit of another repository is not expected to be here.
          if (type !== 'commit') there.set(oid, type)
          if (type === 'tree' && !isNamed.has(oid)) below.push(oid)
        }
      }
      olds = below
      news = broughtTrees(named)
    }
  }
  return there

  function broughtTrees(links: Links): Oid[] {
    return links.flatMap(({ oid, type }) => (type === 'tree' && brought.has(oid) ? oid : []))
  }
}

/** What differences are mostly made to. */
async function findBase(stored: ObjectReader, oid: Oid) {
  const [info] = await stored.listInfo([oid])
  if (!info || info.size > MAX_BASE_BYTES) return undefined
  const { type } = info
  if (type !== 'blob' && type !== 'tree') return undefined
  const content = await (type === 'blob' ? stored.findBlob(oid, MAX_BASE_BYTES) : stored.findBytes(oid, type))
  return content && { type, content }
}

/** Reads what was brought as if it were stored. */
function withBrought(stored: ObjectReader, brought: ReadonlyMap<Oid, PackedObject>): TipReader {
  return {
    async listInfo(oids) {
      const infos = await stored.listInfo(oids.filter((oid) => !brought.has(oid)))
      return oids.map((oid) => {
        const own = brought.get(oid)
        return own ? { type: own.type, size: own.content.length } : infos.shift()
      })
    },
    async findCommit(oid) {
      const own = brought.get(oid)
      if (!own) return stored.findCommit(oid)
      return own.type === 'commit' ? parseCommit(own.content) : undefined
    },
    async findTree(oid) {
      const own = brought.get(oid)
      if (!own) return stored.findTree(oid)
      return own.type === 'tree' ? parseTree(own.content) : undefined
    },
    // No plain object is a tag.
    peel: (oid) => stored.peel(oid),
  }
}
