import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownAddress } from './own-address.ts'

describe('the address of a server that was not told its own', () => {
  it('is where it listens', () => {
    assert.deepEqual(ownAddress('127.0.0.1', 8787), { url: 'http://127.0.0.1:8787' })
    assert.deepEqual(ownAddress('::1', 1), { url: 'http://[::1]:1' })
    assert.deepEqual(ownAddress('git.example', 80), { url: 'http://git.example:80' })
  })

  it('is a guess where that is everywhere, and the operator is told so', () => {
    for (const [host, url] of [
      ['0.0.0.0', 'http://127.0.0.1:8787'],
      ['::', 'http://[::1]:8787'],
    ] as const) {
      const own = ownAddress(host, 8787)
      assert.equal(own.url, url)
      assert.match(own.advice ?? '', /all addresses .* Set TRELLIS_BASE_URL/)
    }
  })
})
