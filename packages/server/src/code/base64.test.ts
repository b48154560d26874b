import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { decodeBase64 } from './base64.ts'

describe('base64', () => {
  it('is decoded, with padding or without, in one line or several, whatever the length', async () => {
    for (const length of [0, 1, 2, 3, 4, 100, 786_431, 786_432, 786_433, 2_000_000]) {
      const bytes = randomBytes(length)
      const text = bytes.toString('base64')
      assert.deepEqual(await decodeBase64(text), bytes)
      assert.deepEqual(await decodeBase64(text.replace(/=+$/, '')), bytes)
      assert.deepEqual(await decodeBase64(`${text.replace(/.{76}/g, '$&\r\n')}\n`), bytes)
    }
  })

  it('is refused where it is none, at any place', async () => {
    const long = Buffer.alloc(2_000_000, 'a').toString('base64')
    for (const bad of [
      '*',
      'QUJDR',
      'QQ==QQ==',
      'QUI_',
      'é',
      'QR',
      `${long}*`,
      `*${long}`,
      `${long.slice(1)}`,
    ])
      assert.equal(await decodeBase64(bad), undefined, bad.slice(0, 20))
  })
})
