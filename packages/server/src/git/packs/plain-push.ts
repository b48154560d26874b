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

interface PlainPush<Update> {
  objects: PackedObject[]
  described: Described<Update>
}

/** `updates` are all that moves, each from where the branch is now; `base` is the tip of the default branch. */
export async function readPlainPush<Update extends BranchUpdate>(
  pack: Buffer,
  stored: ObjectReader,
  { updates, base, signal }: { updates: readonly Update[]; base: Oid | null; signal?: AbortSignal },
): Promise<PlainPush<Update> | undefined> {
  const objects = await readSmallPack(pack, (oid) => findBase(stored, oid))
  if (!objects || !(await arePlain(objects, stored))) return undefined
  const brought = new Map(objects.map((object) => [object.oid, object]))
  const walks = createWalks(stored, signal, MAX_WALKED)
  const described = await describeUpdates(withBrought(stored, brought), {
    oids: updates.map(({ after }) => after),
    updates,
    // Nothing in the pack was there before.
    surroundings: {
      base,
      isNew: (oid) => brought.has(oid),
      leftBaseAt: async (oid) =>
        oid === null || (base !== null && (await walks.isAncestor(oid, base)) === true),
    },
  })
  const isUnderstood = updates.every(
    (update) => described.facts.has(update) && described.whole.has(update.after),
  )
  return isUnderstood ? { objects, described } : undefined
}

/** Whether git would take each of them: none was there before, each is plain, and what it names is there. */
async function arePlain(objects: readonly PackedObject[], stored: ObjectReader): Promise<boolean> {
  const brought = new Map(objects.map((object) => [object.oid, object]))
  const needed = new Map<Oid, ObjectType>()
  const attributes = new Set<Oid>()
  const pause = createPauses()
  for (const { type, content } of objects) {
    await pause()
    const plain = linksOfPlain(type, content)
    if (!plain || needed.size > MAX_NEEDED) return false
    for (const link of plain.links) {
      const found = brought.get(link.oid)?.type ?? needed.get(link.oid) ?? link.type
      if (found !== link.type) return false
      if (!brought.has(link.oid)) needed.set(link.oid, link.type)
    }
    for (const oid of plain.attributes) attributes.add(oid)
  }
  const news = [...brought.keys()]
  const infos = await stored.listInfo([...news, ...needed.keys()])
  if (infos.slice(0, news.length).some((info) => info !== undefined)) return false
  const isThere = [...needed.values()].every((type, i) => infos[news.length + i]?.type === type)
  if (!isThere) return false
  for (const oid of attributes) {
    const content = brought.get(oid)?.content ?? (await stored.findBlob(oid, MAX_ATTRIBUTES_BYTES))
    if (!content || !arePlainAttributes(content)) return false
  }
  return true
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
