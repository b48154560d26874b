import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hashSecret, mintSecret, type SecretPrefix, secretKind, shownPrefix } from './minting.ts'

const prefixes: SecretPrefix[] = ['trk', 'trt', 'tra']

describe('secrets', () => {
  it('have a prefix that tells their kind, and a length', () => {
    for (const prefix of prefixes) {
      const secret = mintSecret(prefix)
      assert.match(secret, new RegExp(`^${prefix}_[0-9A-Za-z]{42}$`))
      assert.equal(secretKind(secret), prefix)
    }
  })

  it('are never the same twice, and use the whole alphabet', () => {
    const minted = Array.from({ length: 2000 }, () => mintSecret('trk'))
    assert.equal(new Set(minted).size, minted.length)
    assert.equal(new Set(minted.flatMap((secret) => [...secret.slice(4, 40)])).size, 62)
  })

  it('with one character changed are known for garbage', () => {
    const secret = mintSecret('trt')
    for (let i = 4; i < secret.length; i++) {
      const other = secret[i] === 'a' ? 'b' : 'a'
      assert.equal(secretKind(secret.slice(0, i) + other + secret.slice(i + 1)), undefined)
    }
    assert.equal(secretKind(secret.replace('trt_', 'trk_')), undefined)
  })

  it('cut short, made longer or dressed up are known for garbage', () => {
    const secret = mintSecret('trk')
    const odd = [
      '',
      'trk_',
      secret.slice(0, -1),
      `${secret}0`,
      ` ${secret}`,
      `${secret}\n`,
      secret.toUpperCase(),
    ]
    for (const candidate of odd) assert.equal(secretKind(candidate), undefined, candidate)
  })

  it('are stored as a hash that tells nothing of them and is the same every time', () => {
    assert.equal(hashSecret('trk_x'), hashSecret('trk_x'))
    assert.notEqual(hashSecret('trk_x'), hashSecret('trk_y'))
    // SHA-256 of the empty string.
    assert.equal(hashSecret(''), '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU')
  })

  it('show their first twelve characters afterwards', () => {
    const secret = mintSecret('tra')
    assert.equal(shownPrefix(secret), secret.slice(0, 12))
    assert.equal(shownPrefix(secret).length, 12)
  })
})
