import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createSealer } from './sealing.ts'

const serverKey = { derive: (purpose: string) => Buffer.alloc(32, purpose).toString('base64url') }

it('opens what it sealed, and never seals the same twice alike', () => {
  const sealer = createSealer(serverKey, 'tests')
  const sealed = sealer.seal('a secret with ünicode')
  assert.equal(sealer.open(sealed), 'a secret with ünicode')
  assert.notEqual(sealer.seal('a secret with ünicode'), sealed)
  assert.doesNotMatch(Buffer.from(sealed, 'base64url').toString('latin1'), /secret/)
})

it('refuses what was sealed for another purpose, or changed', () => {
  const sealed = createSealer(serverKey, 'one').seal('secret')
  assert.throws(() => createSealer(serverKey, 'two').open(sealed))
  const bytes = Buffer.from(sealed, 'base64url')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  assert.throws(() => createSealer(serverKey, 'one').open(bytes.toString('base64url')))
})
