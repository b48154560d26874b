import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqlite, useApp } from '../testing/index.ts'

describe('folding packs', () => {
  const app = useApp(createSqlite)
  const countPacks = async () =>
    (await app.database.db.selectFrom('repo_packs').select('pack_id').execute()).length
  const setBytes = (bytes: number) => app.database.db.updateTable('packs').set({ bytes }).execute()

  async function countRuns(): Promise<number> {
    const text = await (await fetch(`${app.url}/metrics`)).text()
    const line = /^trellis_background_runs_total\{work="pack folding",outcome="success"\} (\d+)$/m
    return Number(line.exec(text)?.[1] ?? 0)
  }

  async function commit(name: string): Promise<void> {
    await app.client(app.ownerKey).git.commits.create({
      name: 'some',
      branch: 'main',
      message: name,
      changes: [{ op: 'put', path: name, content: `${name}\n`, encoding: 'utf-8' }],
    })
  }

  /** Until upkeep has come by once more. */
  async function settle(): Promise<void> {
    const before = await countRuns()
    while ((await countRuns()) === before) await sleep(25)
  }

  it('waits until there is room for a second copy', { timeout: 60_000 }, async () => {
    await app.client(app.ownerKey).repos.create({ name: 'some' })
    // One fewer than are worth folding.
    for (const name of ['a', 'b', 'c']) await commit(name)
    // As if these were larger than any disk.
    await setBytes(2 ** 50)
    await commit('d')
    await settle()
    assert.equal(await countPacks(), 4)

    await setBytes(1_000)
    await commit('e')
    while ((await countPacks()) >= 4) await sleep(25)
  })

  it('folds many packs at once, and counts what is left', { timeout: 60_000 }, async () => {
    const { db } = app.database
    const before = (await db.selectFrom('packs').select('id').execute()).length
    for (let i = 0; i < 25; i++) await commit(`many-${i}`)
    const list = () =>
      db
        .selectFrom('repo_packs')
        .innerJoin('packs', 'packs.id', 'repo_packs.pack_id')
        .select(['packs.bytes', 'packs.unlisted_at'])
        .execute()
    const sizeOf = async () =>
      (await db.selectFrom('repos').select('size_bytes').executeTakeFirstOrThrow()).size_bytes
    let listed = await list()
    const isDone = async () =>
      listed.length < 4 && (await sizeOf()) === listed.reduce((sum, { bytes }) => sum + bytes, 0)
    for (; !(await isDone()); listed = await list()) await sleep(25)
    assert.ok(listed.every(({ unlisted_at }) => unlisted_at === null))
    // The others stay for a while, for whoever reads from them.
    const packs = await db.selectFrom('packs').select('unlisted_at').execute()
    assert.ok(packs.length > before + 25)
    assert.equal(packs.filter(({ unlisted_at }) => unlisted_at === null).length, listed.length)
    const { items } = await app.client(app.ownerKey).git.commits.list({ name: 'some', limit: 100 })
    assert.equal(items.length, 30)
  })
})
