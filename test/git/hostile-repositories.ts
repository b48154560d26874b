// Repositories that take few bytes and make git do much.

import type { Client } from './client.ts'

/** A commit whose tree holds ten times ten times ten ... files, in a few hundred bytes. */
export async function treeBomb(client: Client): Promise<string> {
  const blob = await client.feed('boom', 'hash-object', '-w', '--stdin')
  let entry = `100644 blob ${blob}`
  for (let depth = 0; depth < 9; depth++) {
    const lines = Array.from({ length: 10 }, (_, i) => `${entry}\t${i}\n`).join('')
    entry = `040000 tree ${await client.feed(lines, 'mktree')}`
  }
  return client.run('commit-tree', '-m', 'bomb', entry.split(' ')[2] ?? '')
}

/** The same few lines in an order of their own: two such files git would compare for minutes. */
export function repetitiveLines(seed: number): string {
  let state = seed
  return Array.from({ length: 200_000 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return `${state >>> 30}\n`
  }).join('')
}

/** The path of a file below large directories, and a commit that has it. */
export async function deepBelowWide(client: Client): Promise<{ commit: string; path: string }> {
  const blob = await client.feed('found\n', 'hash-object', '-w', '--stdin')
  let inner = ''
  for (let depth = 0; depth < 6; depth++) {
    const names = Array.from(
      { length: 60_000 },
      (_, i) => `100644 blob ${blob}\tf${String(i).padStart(6, '0')}\n`,
    )
    inner = await client.feed(`${names.join('')}${inner && `040000 tree ${inner}\tz\n`}`, 'mktree')
  }
  return { commit: await client.run('commit-tree', '-m', 'wide', inner), path: 'z/z/z/z/z/f059999' }
}
