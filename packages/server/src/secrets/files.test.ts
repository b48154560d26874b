import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { keptSecret } from './files.ts'

describe('a secret kept in a file', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'trellis-secrets-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  it('is made once, and only its owner can read it', async () => {
    const path = join(directory, 'once')
    assert.equal(await keptSecret(path, () => 'first'), 'first')
    assert.equal(await keptSecret(path, () => 'second'), 'first')
    assert.equal(await readFile(path, 'utf8'), 'first\n')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  })

  it('is taken as an operator wrote it, without the line end', async () => {
    const path = join(directory, 'given')
    await writeFile(path, '  chosen by hand \r\n')
    assert.equal(await keptSecret(path, () => 'made'), 'chosen by hand')
  })

  it('is one and the same for all who ask at once, and nothing else is left', async () => {
    const path = join(directory, 'together')
    const secrets = await Promise.all(
      Array.from({ length: 8 }, (_, i) => keptSecret(path, () => `secret ${i}`)),
    )
    assert.equal(new Set(secrets).size, 1)
    assert.deepEqual(
      (await readdir(directory)).filter((name) => name.startsWith('together')),
      ['together'],
    )
  })

  it('cannot be kept where there is no directory, and says so', async () => {
    await assert.rejects(
      keptSecret(join(directory, 'no', 'where'), () => 'x'),
      { code: 'ENOENT' },
    )
  })
})
