import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo } from '../../testing/git-repo.ts'
import { createDice, type Dice, pick } from '../../testing/random-histories.ts'
import { formatTree } from './format.ts'
import { countLines } from './line-counts.ts'
import { createObjectSet, formatPack, writePack } from './pack-writer.ts'

/** COUNTED_TEXTS=20000 takes a minute. */
const TEXTS = Number(process.env.COUNTED_TEXTS ?? 400)
const SEED = Number(process.env.COUNTED_SEED ?? 1)

const WORDS = ['{', '}', '', '', '  return', 'a', 'b', 'c', 'd']

function randomLines(dice: Dice): string[] {
  const size = dice(dice(5) === 0 ? 400 : 40)
  const rare = 1 + dice(200)
  return Array.from({ length: size }, () => (dice(2) ? pick(dice, WORDS) : `line ${dice(rare)}`))
}

function edited(dice: Dice, lines: readonly string[]): string[] {
  const result = [...lines]
  for (let left = dice(dice(4) === 0 ? 60 : 8); left > 0; left--) {
    const [at, some] = [dice(result.length + 1), randomLines(dice).slice(0, dice(5))]
    const moved = dice(4) === 0 ? result.slice(0, dice(10)) : some
    result.splice(at, dice(4), ...moved)
  }
  return result
}

const textOf = (dice: Dice, lines: readonly string[]) =>
  Buffer.from(lines.join('\n') + (dice(4) && lines.length > 0 ? '\n' : ''))

test('counts the lines that git counts', async () => {
  const dice = createDice(SEED)
  const pairs = Array.from({ length: TEXTS }, () => {
    const lines = randomLines(dice)
    const other = dice(6) === 0 ? randomLines(dice) : edited(dice, lines)
    return [textOf(dice, lines), textOf(dice, other)] as const
  })
  using t = createTestRepo()
  const objects = createObjectSet()
  const tree = async (side: 0 | 1) =>
    objects.add(
      'tree',
      await formatTree(
        pairs.map((pair, i) => ({
          mode: '100644',
          type: 'blob' as const,
          oid: objects.add('blob', pair[side]),
          name: String(i),
        })),
      ),
    )
  const [before, after] = [await tree(0), await tree(1)]
  const quarantine = t.quarantine()
  await writePack(quarantine, await formatPack(objects))
  t.adopt(join(quarantine, 'pack'))
  const told = new Map(
    t
      .git(['diff-tree', '-r', '--numstat', '--no-renames', before, after])
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([additions, deletions, name]) => [
        Number(name),
        { additions: Number(additions), deletions: Number(deletions) },
      ]),
  )
  let counted = 0
  for (const [i, [a, b]] of pairs.entries()) {
    const counts = countLines(a, b)
    if (!counts) continue
    counted++
    assert.deepEqual(counts, told.get(i) ?? { additions: 0, deletions: 0 }, `${a}\n--\n${b}`)
  }
  // What is easily understood is most of it.
  assert.ok(counted > TEXTS / 2, `${counted}`)
})
