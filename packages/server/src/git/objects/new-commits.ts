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

async function readHistory(list: Buffer, pause: Pause) {
  const numbers = new Map<string, number>()
  const lines: Buffer[] = []
  for (let at = 0; at < list.length; ) {
    const end = list.indexOf(0x0a, at)
    if (end < 0) break
    numbers.set(list.toString('latin1', at, at + OID_LENGTH), lines.length)
    lines.push(list.subarray(at, end))
    at = end + 1
    if (lines.length % STEPS_A_LOOK === 0) await pause()
  }
  const seenFor = new Uint32Array(lines.length)
  let counted = 0

  return {
    async count(tip: Oid, pause: Pause): Promise<number> {
      const mark = ++counted
      let found = 0
      const next: number[] = []
      const visit = (oid: string) => {
        const number = numbers.get(oid)
        // A parent that is not listed is no news.
        if (number === undefined || seenFor[number] === mark) return
        seenFor[number] = mark
        found++
        next.push(number)
      }
      visit(tip)
      for (let number = next.pop(); number !== undefined; number = next.pop()) {
        const line = lines[number]
        for (let at = OID_LENGTH + 1; line && at < line.length; at += OID_LENGTH + 1)
          visit(line.toString('latin1', at, at + OID_LENGTH))
        if (found % STEPS_A_LOOK === 0) await pause()
      }
      return found
    },
  }
}
