import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countTurns } from '../testing/turns.ts'
import { parseLargeJson as parse, parseBoundedJson } from './large-json.ts'

const MB = 1024 * 1024
const parseLargeJson = (bytes: Buffer, bounds = {}) => parse(bytes, { levels: 500, ...bounds })

describe('a large body', () => {
  it('is read whole, with whatever is in its strings, several at once too', async () => {
    const values = ['\\"[{,', 'größe 😀', '\\\\', '"'.repeat(3), 'x'.repeat(5 * MB)].map((text, n) => ({
      text,
      n,
    }))
    const read = await Promise.all(values.map((value) => parseLargeJson(Buffer.from(JSON.stringify(value)))))
    assert.deepEqual(
      read.map(({ value }) => value),
      values,
    )
    assert.deepEqual((await parseLargeJson(Buffer.from('null'))).value, null)
  })

  it('is read as it is when it is made of many small things', async () => {
    const value = Array.from({ length: 40_000 }, (_, i) => ({ [`größe ${i}`]: i, same: [null, true, '😀'] }))
    const text = JSON.stringify(value)
    assert.deepEqual((await parseLargeJson(Buffer.from(text))).value, value)
    assert.deepEqual((await parseLargeJson(Buffer.from(`\ufeff${text}`))).value, value)
    assert.match((await parseLargeJson(Buffer.from(`${text},`))).problem ?? '', /^is not valid JSON/)
  })

  it('is read also after one that could not be handed over', async () => {
    const bytes = Buffer.from(new TextEncoder().encode('[1]').buffer)
    const [first, second] = await Promise.allSettled([parseLargeJson(bytes), parseLargeJson(bytes)])
    assert.deepEqual([first?.status, second?.status], ['fulfilled', 'rejected'])
    assert.deepEqual((await parseLargeJson(Buffer.from('[2]'))).value, [2])
  })

  it('waits for no more than one of another organization', async () => {
    const read: string[] = []
    const send = async (id: string) => {
      await parseLargeJson(Buffer.from('[1]'), { sender: { owner: { id } } })
      read.push(id)
    }
    await Promise.all([...Array.from({ length: 20 }, () => send('many')), send('one')])
    assert.ok(read.indexOf('one') <= 1, read.join(' '))
  })

  it('is not read for somebody who has left', async () => {
    const leaving = new AbortController()
    const send = (signal?: AbortSignal) =>
      parseLargeJson(Buffer.from('[1]'), { sender: { owner: { id: 'org' }, ...(signal && { signal }) } })
    const before = send()
    const left = send(leaving.signal)
    leaving.abort(new Error('gone'))
    await assert.rejects(left, /gone/)
    assert.deepEqual((await before).value, [1])
    assert.deepEqual((await send()).value, [1])
  })

  it('is refused when it is not JSON, or not UTF-8', async () => {
    assert.match((await parseLargeJson(Buffer.from('{"a":'))).problem ?? '', /not valid JSON/)
    assert.match((await parseLargeJson(Buffer.from('"open'))).problem ?? '', /not valid JSON/)
    assert.match((await parseLargeJson(Buffer.from([0x22, 0xff, 0x22]))).problem ?? '', /not valid JSON/)
  })

  // Each of these would take half a minute to read, and gigabytes to hold.
  it('is refused when it is made of brackets', { timeout: 300_000 }, async () => {
    for (const part of ['{},', '[],', '0,', '"",'])
      assert.match(
        (await parseLargeJson(Buffer.from(`[${part.repeat((20 * MB) / part.length)}0]`))).problem ?? '',
        /more than 300000 values/,
      )
    assert.match(
      (await parseLargeJson(Buffer.from('['.repeat(20 * MB)))).problem ?? '',
      /more than 500 levels/,
    )
  })

  it('lets others in while it is read', async () => {
    const body = Buffer.from(
      JSON.stringify({ a: Array.from({ length: 100_000 }, (_, i) => `${i} ${'x'.repeat(200)}`) }),
    )
    using turns = countTurns()
    await parseLargeJson(body)
    assert.ok(turns.count > 100, `${turns.count} turns of the loop`)
  })
})

describe('JSON that somebody made to take long', () => {
  const bounds = { values: 10, levels: 3 }

  it('is read within its bounds, whatever is in its strings', () => {
    const value = { a: [['[[[[[', '{{{{,,,,,,,,,,,,,', '\\\\"[']], b: 'x' }
    assert.deepEqual(parseBoundedJson(JSON.stringify(value), bounds).value, value)
  })

  it('is refused beyond them, and when it is none', async () => {
    assert.match(parseBoundedJson('[[[[1]]]]', bounds).problem ?? '', /has more than 3 levels/)
    assert.match(parseBoundedJson('[1,1,1,1,1,1,1,1,1,1]', bounds).problem ?? '', /has more than 10 values/)
    assert.match(parseBoundedJson('[1', bounds).problem ?? '', /is not valid JSON/)
    assert.match((await parseLargeJson(Buffer.from('[[[[1]]]]'), bounds)).problem ?? '', /more than 3 levels/)
  })
})
