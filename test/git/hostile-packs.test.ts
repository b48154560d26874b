// Packs that are meant to do harm: refused in words, and nothing of them stays.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { createSqlite } from '@trellis/server/testing'
import { all, pushRaw, useHost } from './harness.ts'
import { leavesNothing } from './traces.ts'

const host = useHost(createSqlite, { TRELLIS_PUSH_MAX_BYTES: '5000000' }, (host) => host.filled('target'))

const create = (after: string) => [{ ref: 'refs/heads/evil', after }]

describe('a pack that is meant to do harm', () => {
  /** One object as it stands in a pack: type and size, then the deflated bytes. */
  function packed(
    objects: readonly { type: number; size?: number; bytes: Uint8Array }[],
    count = objects.length,
  ): Buffer {
    const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
    header.writeUInt32BE(count, 8)
    const parts: Buffer[] = [header]
    for (const { type, size, bytes } of objects) {
      let left = BigInt(size ?? bytes.length)
      const head = [Number((BigInt(type) << 4n) | (left & 15n))]
      left >>= 4n
      for (; left > 0n; left >>= 7n) {
        head.push((head.pop() ?? 0) | 128, Number(left & 127n))
      }
      parts.push(Buffer.from(head), deflateSync(bytes))
    }
    const whole = Buffer.concat(parts)
    return Buffer.concat([whole, createHash('sha1').update(whole).digest()])
  }
  const COMMIT = 1
  const TREE = 2
  const BLOB = 3
  const idOf = (type: string, bytes: Uint8Array) =>
    createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
  const entry = (mode: string, name: string, oid: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')])
  const commitOf = (tree: string, person = 'Eve <e@v.e> 1700000000 +0000') =>
    Buffer.from(`tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nharm\n`)

  const blob = Buffer.from('#!/bin/sh\n')
  const blobId = idOf('blob', blob)

  async function refusedTree(
    tree: Buffer,
    extra: { type: number; bytes: Uint8Array }[] = [],
  ): Promise<string> {
    const commit = commitOf(idOf('tree', tree))
    const evil = packed([
      { type: BLOB, bytes: blob },
      { type: TREE, bytes: tree },
      { type: COMMIT, bytes: commit },
      ...extra,
    ])
    return pushRaw(host, 'target', create(idOf('commit', commit)), evil)
  }

  it('is taken when it does none', async () => {
    const tree = entry('100644', 'harmless', blobId)
    const commit = commitOf(idOf('tree', tree))
    const report = await pushRaw(
      host,
      'target',
      create(idOf('commit', commit)),
      packed([
        { type: BLOB, bytes: blob },
        { type: TREE, bytes: tree },
        { type: COMMIT, bytes: commit },
      ]),
    )
    assert.match(report, /unpack ok\n.*ok refs\/heads\/evil/s)
    await pushRaw(host, 'target', [{ ref: 'refs/heads/evil', before: idOf('commit', commit) }])
  })

  it('with names that would escape a checkout is refused', async () => {
    const names = [
      '.git',
      '.GIT',
      '.Git',
      '..',
      '.',
      '',
      'a/b',
      'git~1',
      '.git\u200c',
      '.git. ',
      '.git::$INDEX_ALLOCATION',
    ]
    await leavesNothing(host, () =>
      all(names, async (name) => {
        const inner = entry('100644', 'config', blobId)
        const tree = entry('40000', name, idOf('tree', inner))
        const report = await refusedTree(tree, [{ type: TREE, bytes: inner }])
        assert.match(report, /unpack (?!ok)/, name)
        assert.match(report, /ng refs\/heads\/evil/)
      }),
    )
  })

  it('with .gitmodules that run a command or that are a link is refused', async () => {
    const modules = Buffer.from('[submodule "x"]\n\tpath = x\n\turl = -u./payload\n')
    const climbing = Buffer.from('[submodule "../../x"]\n\tpath = x\n\turl = https://example.com\n')
    await leavesNothing(host, async () => {
      for (const bytes of [modules, climbing]) {
        const tree = entry('100644', '.gitmodules', idOf('blob', bytes))
        assert.match(await refusedTree(tree, [{ type: BLOB, bytes }]), /unpack (?!ok)/)
      }
      assert.match(await refusedTree(entry('120000', '.gitmodules', blobId)), /unpack (?!ok)/)
    })
  })

  it('with trees and commits that are not well formed is refused', async () => {
    const twice = Buffer.concat([entry('100644', 'a', blobId), entry('100644', 'a', blobId)])
    const unsorted = Buffer.concat([entry('100644', 'b', blobId), entry('100644', 'a', blobId)])
    const cut = entry('100644', 'a', blobId).subarray(0, 15)
    await leavesNothing(host, async () => {
      for (const tree of [twice, unsorted, cut]) assert.match(await refusedTree(tree), /unpack (?!ok)/)
      const tree = entry('100644', 'a', blobId)
      for (const person of ['Eve', 'Eve <e@v.e> x +0000', 'E\0ve <e@v.e> 1700000000 +0000']) {
        const commit = commitOf(idOf('tree', tree), person)
        const evil = packed([
          { type: BLOB, bytes: blob },
          { type: TREE, bytes: tree },
          { type: COMMIT, bytes: commit },
        ])
        assert.match(
          await pushRaw(host, 'target', create(idOf('commit', commit)), evil),
          /unpack (?!ok)/,
          person,
        )
      }
    })
  })

  it('that lies about sizes and counts is refused', async () => {
    const bytes = Buffer.from('tiny')
    await leavesNothing(host, async () => {
      const packs = [
        packed([{ type: BLOB, bytes, size: 2 ** 40 }]),
        packed([{ type: BLOB, bytes, size: 2 }]),
        packed([{ type: BLOB, bytes }], 2 ** 32 - 1),
        packed([{ type: BLOB, bytes }], 0),
        packed([{ type: BLOB, bytes }], 2),
        packed([{ type: 5, bytes }]),
        packed([{ type: 0, bytes }]),
        // A delta against an object that nobody has.
        packed([{ type: 7, bytes: Buffer.concat([randomBytes(20), bytes]) }]),
      ]
      for (const evil of packs)
        assert.match(await pushRaw(host, 'target', create(idOf('blob', bytes)), evil), /unpack (?!ok)/)
    })
  })

  it('without what its refs need is refused, and nothing of it is listed', async () => {
    const tree = entry('100644', 'absent', 'a'.repeat(40))
    const commit = commitOf(idOf('tree', tree))
    const refs = await host.refs('target')
    const packs = await host.packs('target')
    const lacksBlob = packed([
      { type: TREE, bytes: tree },
      { type: COMMIT, bytes: commit },
    ])
    assert.match(
      await pushRaw(host, 'target', create(idOf('commit', commit)), lacksBlob),
      /ng refs\/heads\/evil/,
    )
    const lacksTree = packed([{ type: COMMIT, bytes: commit }])
    assert.match(
      await pushRaw(host, 'target', create(idOf('commit', commit)), lacksTree),
      /ng refs\/heads\/evil/,
    )
    assert.match(
      await pushRaw(host, 'target', create('b'.repeat(40))),
      /ng refs\/heads\/evil missing necessary objects/,
    )
    // A blob cannot be a branch, whatever else is in the pack.
    assert.match(
      await pushRaw(host, 'target', create(blobId), packed([{ type: BLOB, bytes: blob }])),
      /ng refs\/heads\/evil a branch must be a commit/,
    )
    assert.deepEqual(await host.refs('target'), refs)
    assert.deepEqual(await host.packs('target'), packs)
  })
})
