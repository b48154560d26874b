import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { getCACertificates } from 'node:tls'
import { allAuthorities, trustAuthorities } from './authorities.ts'
import { StartError } from './start-error.ts'

describe('authorities that an operator names', () => {
  it('say in a line what is wrong with their file, and change nothing then', async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'trellis-authorities-'))
    const file = join(directory.path, 'authorities.pem')
    const before = getCACertificates('default').length
    const refused = (words: RegExp) =>
      assert.rejects(trustAuthorities(file), (error: Error) => {
        assert.ok(error instanceof StartError)
        assert.match(error.message, words)
        return true
      })
    await refused(/^TRELLIS_CA_FILE cannot be read: .*ENOENT/)
    await writeFile(file, 'no certificate')
    await refused(/^TRELLIS_CA_FILE is to hold certificates in PEM, and .* has none/)
    await writeFile(file, '-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n')
    await refused(/^TRELLIS_CA_FILE is to hold certificates in PEM, and .* has none/)
    assert.equal(getCACertificates('default').length, before)
  })

  it('are handed to programs together with all the others', () => {
    const handed = allAuthorities().match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0
    assert.ok(handed >= new Set(getCACertificates('default')).size)
  })
})
