// Reads every object of the git directories it is given with git and from the same packs without it, and compares:
//
//     node test/object-equality.ts <git directory>...
//
// Each is read as it is, and once more packed anew with the longest chains of differences that git makes.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareObjects, openSight, storePacks } from '../packages/server/src/testing/object-equality.ts'

const INDEX_ROOM = 256 * 1024 * 1024

async function compare(title: string, gitDir: string): Promise<boolean> {
  using stored = await storePacks(gitDir)
  using sight = openSight({ ...stored, listPacks: () => stored.packIds, maxBytes: INDEX_ROOM })
  const began = performance.now()
  const { objects, bytes, unusual, different } = await compareObjects(gitDir, sight)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const left = [...unusual].map(([reason, count]) => `${count} ${reason}`).join(', ') || 'none'
  const mebibytes = Math.round(bytes / 1024 / 1024)
  console.log(
    `${title}: ${objects} objects, ${mebibytes} MB, ${seconds} s, ${different.length} differ, left to git: ${left}`,
  )
  return different.length === 0 && objects > 0
}

let isEqual = true
for (const gitDir of process.argv.slice(2)) {
  isEqual = (await compare(gitDir, gitDir)) && isEqual
  const copy = mkdtempSync(join(tmpdir(), 'trellis-equality-'))
  try {
    cpSync(gitDir, copy, { recursive: true })
    execFileSync('git', ['-C', copy, 'repack', '-adfq', '--depth=250', '--window=10'], { stdio: 'inherit' })
    isEqual = (await compare(`${gitDir}, long chains`, copy)) && isEqual
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
process.exitCode = isEqual ? 0 : 1
