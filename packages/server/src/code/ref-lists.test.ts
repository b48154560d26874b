import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { Oid, RefName } from '../git/names.ts'
import type { MovedRef } from '../git/protocol/sorted-refs.ts'
import { type RepoRow, recordServerChange } from '../repos/store.ts'
import type { Tx } from '../schema.ts'
import { foundOrg, onEachDatabase, useApp } from '../testing/index.ts'
import { createRefLists } from './ref-lists.ts'
import * as refStore from './ref-store.ts'

const oid = (n: number) => n.toString(16).padStart(40, '0') as Oid
const branch = (name: string) => `refs/heads/${name}` as RefName

onEachDatabase('lists of refs', (create) => {
  const app = useApp(create)
  let reads = 0

  before(async () => {
    const { owner } = await foundOrg(app, 'acme')
    for (const name of ['moving', 'outrun', 'many', 'counted', 'uncounted'])
      await app.client(owner.token, 'acme').repos.create({ name })
  })

  const rowOf = (name: string): Promise<RepoRow> =>
    app.database.db.selectFrom('repos').selectAll().where('name', '=', name).executeTakeFirstOrThrow()

  /** Moves refs as a landing does, and gives what it would note. */
  async function move(name: string, ...moves: (readonly [string, number | null])[]) {
    const { id } = await rowOf(name)
    const moved = moves.map(([short, n]): MovedRef => {
      const ref = branch(short)
      return { name: ref, ref: n === null ? null : { name: ref, oid: oid(n), peeled: null } }
    })
    let added = 0
    const version = await app.database.transact(async (tx) => {
      const row = await recordServerChange(tx, id, 0)
      for (const { name, ref } of moved) {
        const there = await refStore.findRef(tx, id, name)
        added += (ref ? 1 : 0) - (there ? 1 : 0)
        if (!there && ref) await refStore.insertRefs(tx, id, [ref])
        else if (there)
          await refStore.moveRefs(tx, id, [
            { name, before: there.oid, after: ref?.oid ?? null, peeled: null },
          ])
      }
      return row?.refs_version ?? 0
    })
    return { id, version, moved, added }
  }

  function countingLists() {
    const lists = createRefLists({
      db: new Proxy(app.database.db, {
        get(target, property, receiver) {
          if (property === 'getExecutor') reads++
          const value = Reflect.get(target, property, receiver)
          return typeof value === 'function' ? value.bind(target) : value
        },
      }),
    })
    const note = ({ id, version, ...moves }: Awaited<ReturnType<typeof move>>, counted?: number) =>
      lists.noteMoved(id, version, { ...moves, counted })
    const isRight = async (name: string) => {
      const row = await rowOf(name)
      const { version, refs } = await lists.of(row)
      const stored = await refStore.listRefs(app.database.db, row.id)
      assert.deepEqual([version, [...refs]], [row.refs_version, stored])
    }
    return { lists, note, isRight }
  }

  it('follow what moves without being read again', async () => {
    const { lists, note, isRight } = countingLists()
    note(await move('moving', ['b', 1], ['d', 1]))
    await isRight('moving')
    const start = (await rowOf('moving')).refs_version
    const before = reads
    note(await move('moving', ['a', 1]))
    note(await move('moving', ['b', 2], ['c', 1]))
    note(await move('moving', ['a', null], ['e', 3]))
    note(await move('moving'))
    await isRight('moving')
    assert.equal(reads, before)
    const { id, refs_version: to } = await rowOf('moving')
    const since = (from: number) => lists.movedSince(id, { from, to })?.map(({ name }) => name)
    assert.deepEqual(since(start + 1), ['b', 'c', 'a', 'e'].map(branch))
    assert.deepEqual(since(start), ['a', 'b', 'c', 'a', 'e'].map(branch))
    assert.deepEqual(since(to), [])
    assert.equal(since(start - 1), undefined)
    // Whoever read the row before gets what is there now.
    assert.equal((await lists.of({ ...(await rowOf('moving')), refs_version: start })).version, to)
  })

  it('are read again where somebody else has moved something', async () => {
    const { note, isRight } = countingLists()
    note(await move('outrun', ['a', 1]))
    await isRight('outrun')
    await move('outrun', ['b', 1])
    note(await move('outrun', ['c', 1]))
    await isRight('outrun')
    const [first, second] = [await move('outrun', ['a', 2]), await move('outrun', ['a', 3])]
    note(second)
    note(first)
    await isRight('outrun')
  })

  it('are right when they were read between a move and its note', async () => {
    const { lists, note, isRight } = countingLists()
    await isRight('many')
    const row = await rowOf('many')
    const [first, second] = [await move('many', ['a', 1], ['b', 1]), await move('many', ['a', null])]
    const late = createRefLists({ db: app.database.db })
    assert.deepEqual(
      [...(await late.of(row)).refs].map(({ name }) => name),
      [branch('b')],
    )
    for (const each of [first, second]) {
      note(each)
      late.noteMoved(each.id, each.version, each)
    }
    await isRight('many')
    assert.deepEqual(await late.of(await rowOf('many')), await lists.of(await rowOf('many')))
    note(await move('many', ...Array.from({ length: 200 }, (_, i) => [`many-${i}`, i] as const)))
    await isRight('many')
  })

  it('know how many there are', async () => {
    const { lists, note, isRight } = countingLists()
    const count = async () => {
      const { id, refs_version } = await rowOf('counted')
      return app.database.transact((tx) => lists.countIn(tx, id, refs_version))
    }
    await move('counted', ['a', 1], ['b', 1])
    assert.equal(await count(), 2)
    await isRight('counted')
    note(await move('counted', ['a', null], ['c', 1], ['d', 1]))
    assert.equal(await count(), 3)
    await move('counted', ['e', 1])
    assert.equal(await count(), 4)
  })

  it('count those of which nobody asks for a list only once', async () => {
    const { lists, note } = countingLists()
    const count = async (): Promise<number | 'asked'> => {
      const { id, refs_version } = await rowOf('uncounted')
      let isAsked = false
      const noticing = new Proxy({} as Tx, {
        get() {
          isAsked = true
          throw new Error('the database was asked')
        },
      })
      return lists.countIn(noticing, id, refs_version).catch((error: unknown) => {
        if (isAsked) return 'asked' as const
        throw error
      })
    }
    assert.equal(await count(), 'asked')
    note(await move('uncounted', ['a', 1], ['b', 1]), 0)
    assert.equal(await count(), 2)
    note(await move('uncounted', ['a', 2], ['b', null], ['c', 1], ['d', 1]))
    assert.equal(await count(), 3)
    // Of what others have moved it knows nothing.
    await move('uncounted', ['e', 1])
    assert.equal(await count(), 'asked')
    note(await move('uncounted', ['f', 1]))
    assert.equal(await count(), 'asked')
  })
})
