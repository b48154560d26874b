import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import type { Oid } from '../names.ts'
import { oidOf } from '../objects/format.ts'
import { readSmallPack } from './small-pack.ts'

let repo: TestRepo
before(() => {
  repo = createTestRepo()
})
after(() => repo[Symbol.dispose]())

const nowhere = async () => undefined
const read = (pack: Buffer) => readSmallPack(pack, nowhere)

const signed = (...parts: Buffer[]) => {
  const bytes = Buffer.concat(parts)
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()])
}
const header = (count: number) => {
  const bytes = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  bytes.writeUInt32BE(count, 8)
  return bytes
}
/** What stands in a pack of one object; `size` is what it says of itself. */
const entry = (kind: number, content: Buffer, { base = Buffer.alloc(0), size = content.length } = {}) => {
  const head = [(kind << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head.push((head.pop() as number) | 128, rest & 127)
  }
  return Buffer.concat([Buffer.from(head), base, deflateSync(content)])
}
const BLOB = 3
const OFFSET = 6
const ID = 7
const text = Buffer.from('a text that is long enough\n')
/** Copies all of the text and puts something after. */
const longer = Buffer.from([text.length, text.length + 1, 0x90, text.length, 1, 0x21])

test('reads whole objects and differences, in whatever order they come', async () => {
  const more = Buffer.concat([text, Buffer.from('!')])
  const byId = Buffer.from(oidOf('blob', text), 'hex')
  const first = entry(BLOB, text)
  const expected = [text, more].map((content) => oidOf('blob', content))
  const oids = async (pack: Buffer, find: Parameters<typeof readSmallPack>[1] = nowhere) =>
    (await readSmallPack(pack, find))?.map(({ oid }) => oid)
  assert.deepEqual(await oids(signed(header(2), first, entry(ID, longer, { base: byId }))), expected)
  assert.deepEqual(await oids(signed(header(2), entry(ID, longer, { base: byId }), first)), expected)
  const back = Buffer.from([first.length])
  assert.deepEqual(await oids(signed(header(2), first, entry(OFFSET, longer, { base: back }))), expected)
  const thin = signed(header(1), entry(ID, longer, { base: byId }))
  assert.equal(await oids(thin), undefined)
  const found = await oids(thin, async (oid: Oid) =>
    oid === expected[0] ? { type: 'blob', content: text } : undefined,
  )
  assert.deepEqual(found, [expected[1]])
})

test('leaves to git whatever is odd', async () => {
  const good = signed(header(1), entry(BLOB, text))
  assert.equal((await read(good))?.length, 1)
  assert.deepEqual(await read(signed(header(0))), [])
  const base = Buffer.from(oidOf('blob', text), 'hex')
  const delta = (bytes: Buffer) => signed(header(2), entry(BLOB, text), entry(ID, bytes, { base }))
  const bomb = Buffer.alloc(512 * 1024)
  const odd: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    'no objects, and yet more': signed(header(0), entry(BLOB, text)),
    'no objects, cut off': signed(header(0)).subarray(0, -1),
    'another version': signed(Buffer.from('PACK\0\0\0\x03\0\0\0\x01', 'latin1'), entry(BLOB, text)),
    'a wrong sum': Buffer.concat([good.subarray(0, -1), Buffer.from([0])]),
    'more than it says': signed(header(1), entry(BLOB, text), entry(BLOB, Buffer.from('x'))),
    'less than it says': signed(header(2), entry(BLOB, text)),
    'too many': signed(
      header(501),
      ...Array.from({ length: 501 }, (_, i) => entry(BLOB, Buffer.from(`${i}`))),
    ),
    twice: signed(header(2), entry(BLOB, text), entry(BLOB, text)),
    'an unknown kind': signed(header(1), entry(5, text)),
    'a smaller size': signed(header(1), entry(BLOB, text, { size: text.length - 1 })),
    'a larger size': signed(header(1), entry(BLOB, text, { size: text.length + 1 })),
    'an enormous size': signed(header(1), entry(BLOB, text, { size: 2 ** 40 })),
    'too much in all': signed(
      header(5),
      ...Array.from({ length: 5 }, (_, i) => {
        const large = Buffer.from(bomb)
        large[0] = i
        return entry(BLOB, large)
      }),
    ),
    'junk for content': signed(header(1), Buffer.from([0x35, 1, 2, 3, 4, 5])),
    'a base before the pack': signed(header(1), entry(OFFSET, longer, { base: Buffer.from([0xff, 0x7f]) })),
    'a base that is itself': signed(header(1), entry(OFFSET, longer, { base: Buffer.from([0]) })),
    'a base between two': signed(
      header(2),
      entry(BLOB, text),
      entry(OFFSET, longer, { base: Buffer.from([5]) }),
    ),
    'a difference to another size': delta(Buffer.from([9, 1, 1, 0x21])),
    'a difference beyond its base': delta(Buffer.from([text.length, 90, 0x91, 20, 90])),
    'a difference beyond itself': delta(Buffer.from([text.length, 3, 0x90, text.length])),
    'a difference too short': delta(Buffer.from([text.length, 90, 0x90, text.length])),
    'a difference with a reserved instruction': delta(Buffer.from([text.length, 1, 0])),
    'a difference cut off': delta(Buffer.from([text.length, 90, 0x91])),
    'an empty difference': delta(Buffer.alloc(0)),
  }
  for (const [what, pack] of Object.entries(odd)) assert.equal(await read(pack), undefined, what)
})

test('differences that make much of little are not made', async () => {
  // Each copies all of the one before sixteen times.
  const chain = (levels: number) => {
    let size = 1024
    let before = Buffer.alloc(size, 'x')
    const parts = [entry(BLOB, before)]
    for (let i = 0; i < levels; i++) {
      const varint = (value: number) => {
        const bytes: number[] = []
        for (let rest = value; ; rest = Math.floor(rest / 128)) {
          bytes.push(rest < 128 ? rest : (rest & 127) | 128)
          if (rest < 128) return bytes
        }
      }
      const copy = [0xf0, size & 255, (size >> 8) & 255, (size >> 16) & 255]
      const delta = Buffer.from([...varint(size), ...varint(size * 16), ...Array(16).fill(copy).flat()])
      parts.push(entry(ID, delta, { base: Buffer.from(oidOf('blob', before), 'hex') }))
      before = Buffer.alloc(size * 16, 'x')
      size *= 16
    }
    return signed(header(levels + 1), ...parts)
  }
  assert.equal((await read(chain(2)))?.length, 3)
  assert.equal(await read(chain(3)), undefined)
})

test('of any damaged pack it reads nothing that git would not', async () => {
  const tip = repo.commit({ 'a.txt': 'a\n'.repeat(50), 'dir/b.txt': 'b\n' })
  const next = repo.commit({ 'a.txt': `${'a\n'.repeat(50)}c\n` }, tip)
  const pack = execFileSync('git', ['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'], {
    cwd: repo.gitDir,
    input: `${next}\n`,
  })
  const whole = new Set((await read(pack))?.map(({ oid }) => oid))
  assert.equal(whole.size, 8)
  for (let at = 0; at < pack.length - 20; at++) {
    const bytes = Buffer.from(pack.subarray(0, -20))
    bytes[at] = (bytes[at] as number) ^ (1 << (at % 8))
    // With its sum mended, so that it is not refused for that.
    for (const { oid, type, content } of (await read(signed(bytes))) ?? [])
      assert.equal(oidOf(type, content), oid)
    assert.equal(await read(Buffer.concat([bytes, pack.subarray(-20)])), undefined)
  }
})
