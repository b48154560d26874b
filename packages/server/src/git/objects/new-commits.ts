// How many commits refs would gain that no ref has. A first push may bring twenty branches of one long history: to walk
// it once and count in memory takes what one of them takes alone.

import { createPauses, type Pause } from '../../platform/pauses.ts'
import type { Oid } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'

const OID_LENGTH = 40
/** Of the list: some 200,000 commits. */
const MAX_LIST_BYTES = 16 * 1024 * 1024
const STEPS_A_LOOK = 1000

/** For each of these commits, how many lead up to it, itself included, that no ref has. */
export async function countNewCommits(repo: OpenRepo, tips: readonly Oid[]): Promise<Map<Oid, number>> {
  const distinct = [...new Set(tips)]
  const listed = distinct.length > 1 ? await listNew(repo, distinct) : undefined
  const counts = new Map<Oid, number>()
  const pause = createPauses()
  const history = listed && (await readHistory(listed, pause))
  for (const tip of distinct)
    counts.set(tip, history ? await history.count(tip, pause) : await countAlone(repo, tip))
  return counts
}

async function countAlone(repo: OpenRepo, tip: Oid): Promise<number> {
  const { stdout } = await repo.run({
    verb: 'rev-list',
    options: ['--count', '--stdin', '--not', '--all'],
    stdin: `${tip}\n`,
  })
  return Number(stdout.toString())
}

/** A line for each commit, with its parents; undefined when that is too long to be looked at here. */
async function listNew(repo: OpenRepo, tips: readonly Oid[]): Promise<Buffer | undefined> {
  const { stdout, truncated } = await repo.run({
    verb: 'rev-list',
    options: ['--parents', '--stdin', '--not', '--all'],
    stdin: `${tips.join('\n')}\n`,
    maxBytes: MAX_LIST_BYTES,
    truncate: true,
  })
  return truncated ? undefined : stdout
}

/** The commits by their number in the list, so that to count costs no more than to follow numbers. */
async function readHistory(list: Buffer, pause: Pause) {
  const numbers = new Map<string, number>()
  for (let at = 0; at < list.length; at = endOfLine(list, at) + 1) {
    numbers.set(list.toString('latin1', at, at + OID_LENGTH), numbers.size)
    if (numbers.size % STEPS_A_LOOK === 0) await pause()
  }
  /** Of each commit, where its parents begin; those of the next begin where they end. */
  const begins = new Uint32Array(numbers.size + 1)
  const parents: number[] = []
  for (let at = 0, number = 0; at < list.length; number++) {
    const end = endOfLine(list, at)
    for (let next = at + OID_LENGTH + 1; next < end; next += OID_LENGTH + 1) {
      const parent = numbers.get(list.toString('latin1', next, next + OID_LENGTH))
      // One that is not listed is no news.
      if (parent !== undefined) parents.push(parent)
    }
    begins[number + 1] = parents.length
    at = end + 1
    if (number % STEPS_A_LOOK === 0) await pause()
  }
  const seenFor = new Uint32Array(numbers.size)
  let counted = 0

  return {
    async count(tip: Oid, pause: Pause): Promise<number> {
      const start = numbers.get(tip)
      if (start === undefined) return 0
      const mark = ++counted
      seenFor[start] = mark
      const left = [start]
      let found = 0
      for (let number = left.pop(); number !== undefined; number = left.pop()) {
        const end = begins[number + 1] ?? 0
        for (let i = begins[number] ?? 0; i < end; i++) {
          const parent = parents[i]
          if (parent === undefined || seenFor[parent] === mark) continue
          seenFor[parent] = mark
          left.push(parent)
        }
        if (++found % STEPS_A_LOOK === 0) await pause()
      }
      return found
    },
  }
}

function endOfLine(list: Buffer, at: number): number {
  const end = list.indexOf(0x0a, at)
  return end < 0 ? list.length : end
}
