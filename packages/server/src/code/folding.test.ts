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
})
