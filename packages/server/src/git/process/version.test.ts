import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { StartError } from '../../platform/start-error.ts'
import { requireGit } from './version.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'trellis-git-version-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function pretending(version: string): Promise<string> {
  const path = join(directory, version)
  await writeFile(path, `#!/bin/sh\necho "git version ${version}"\n`)
  await chmod(path, 0o755)
  return path
}

it('takes the git of this machine', async () => {
  await requireGit()
})

it('takes newer gits, also from vendors with versions of their own', async () => {
  await requireGit(await pretending('2.38.0'))
  await requireGit(await pretending('3.0.1.vendor-2'))
})

it('refuses an old git, and none, in words', async () => {
  const old = await pretending('2.37.9')
  await assert.rejects(
    requireGit(old),
    (error) => error instanceof StartError && /2\.37\.9/.test(error.message),
  )
  await assert.rejects(requireGit(join(directory, 'missing')), /Install it/)
})
