import { join } from 'node:path'
// For tests: histories nobody would write, to hold what we say of them against what git says.

import type { Oid } from '../git/names.ts'
import { formatTree, type TreeEntry } from '../git/objects/format.ts'
import { createObjectSet, formatPack, type ObjectSet, writePack } from '../git/objects/pack-writer.ts'
import { createTestRepo, oid, type TestRepo } from './git-repo.ts'

/** From 0 to below `below`. */
export type Dice = (below: number) => number

/** The same numbers for the same seed. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return ((state ^ (state >>> 13)) >>> 4) % below
  }
}

export const pick = <T>(dice: Dice, from: readonly T[]): T => from[dice(from.length)] as T

/** A repository with that many histories of a few commits each. */
export async function createRandomHistories(
  dice: Dice,
  count: number,
): Promise<TestRepo & { histories: Oid[][] }> {
  const repo = createTestRepo()
  const objects = createObjectSet()
  const histories: Oid[][] = []
  for (let i = 0; i < count; i++) histories.push(await randomHistory(objects, dice))
  const quarantine = repo.quarantine()
  await writePack(quarantine, await formatPack(objects))
  repo.adopt(join(quarantine, 'pack'))
  return { ...repo, histories }
}

/** What a tree has, by path. */
type Files = ReadonlyMap<string, [mode: string, oid: Oid]>

interface Made {
  oid: Oid
  files: Files
}

const DATES: ((dice: Dice, i: number) => string)[] = [
  (_, i) => `${1_700_000_000 + i * 60} +0000`,
  (dice, i) => `${1_700_000_000 + i * 60 - dice(600)} +0000`,
  () => '1700000000 +0000',
  (dice) => `${1_700_000_000 + dice(3)} +0000`,
  (_, i) => `${1_700_000_000 - i * 60} +0100`,
  (dice) => `${dice(2) ? dice(2_000_000_000) : 0} -0330`,
  (dice, i) => (dice(3) ? `${1_700_000_000 + i} +0000` : 'yesterday'),
]

async function randomHistory(objects: ObjectSet, dice: Dice): Promise<Oid[]> {
  const made: Made[] = []
  const dateOf = pick(dice, DATES)
  const size = 2 + dice(24)
  const spread = 1 + dice(8)
  const manyParents = dice(4)
  for (let i = 0; i < size; i++) {
    const parents = dice(12) === 0 ? [] : someParents(dice, made, spread, manyParents)
    const files = change(objects, dice, parents)
    const tree = await writeTree(objects, files, '')
    const lines = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent.oid}`),
      `author A <a@b.c> 1 +0000`,
      `committer A <a@b.c> ${dateOf(dice, i)}`,
    ]
    made.push({
      oid: objects.add('commit', Buffer.from(`${lines.join('\n')}\n\n${i} ${dice(1e9)}\n`)),
      files,
    })
  }
  return made.map((commit) => commit.oid)
}

function someParents(dice: Dice, made: readonly Made[], spread: number, many: number): Made[] {
  if (made.length === 0) return []
  const count = dice(3) < many ? 1 + dice(many) : 1
  const recent = made.slice(-1 - spread)
  const chosen = Array.from({ length: count }, () => pick(dice, dice(6) ? recent : made))
  // Git refuses to make one of a parent twice, and reads it all the same.
  return dice(20) === 0 ? chosen : [...new Set(chosen)]
}

export const PATHS = ['a', 'd', 'd/x', 'd/e', 'd/e/z', 'd/e/z/q', 'f']
const MODES = ['100644', '100644', '100644', '100755', '100664', '120000', '160000']

/** What one of the parents has, with a few changes. */
function change(objects: ObjectSet, dice: Dice, parents: readonly Made[]): Files {
  const files = new Map(parents.length > 0 ? pick(dice, parents).files : [])
  for (let left = dice(3); left > 0; left--) {
    const path = pick(dice, PATHS)
    // What is in the way of it goes.
    for (const other of files.keys())
      if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other)
    if (dice(4) === 0) files.delete(path)
    else if (dice(10) === 0) files.set(path, ['040000', objects.add('tree', Buffer.alloc(0))])
    else {
      const mode = pick(dice, MODES)
      const blob = objects.add('blob', Buffer.from(`${dice(3)}\n`))
      files.set(path, [mode, mode === '160000' ? oid(String(dice(2)).repeat(40)) : blob])
    }
  }
  return files
}

async function writeTree(objects: ObjectSet, files: Files, folder: string): Promise<Oid> {
  const entries = new Map<string, TreeEntry>()
  for (const [path, [mode, oid]] of files) {
    if (!path.startsWith(folder)) continue
    const [name = '', ...below] = path.slice(folder.length).split('/')
    const type = mode === '040000' ? 'tree' : 'blob'
    if (below.length === 0) entries.set(name, { mode, type, oid, name })
    else if (!entries.has(name))
      entries.set(name, {
        mode: '040000',
        type: 'tree',
        oid: await writeTree(objects, files, `${folder}${name}/`),
        name,
      })
  }
  return objects.add('tree', await formatTree([...entries.values()]))
}
