import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase, useApp } from '../testing/index.ts'

onEachDatabase('the size of a repository', (create) => {
  const app = useApp(create)

  /** What it is said to have, and what its packs have together. */
  async function sizes(name: string): Promise<[number, number]> {
    const { db } = app.database
    const { size_bytes, id } = await db
      .selectFrom('repos')
      .select(['id', 'size_bytes'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    const packs = await db
      .selectFrom('repo_packs')
      .innerJoin('packs', 'packs.id', 'repo_packs.pack_id')
      .select('packs.bytes')
      .where('repo_id', '=', id)
      .execute()
    return [size_bytes, packs.reduce((sum, { bytes }) => sum + bytes, 0)]
  }

  it('is that of its packs, also when they have been folded and when it is a fork', async () => {
    const trellis = app.client(app.ownerKey)
    await trellis.repos.create({ name: 'grown' })
    let listed = 0
    for (let i = 0; i < 9; i++)
      await trellis.git.commits.create({
        name: 'grown',
        branch: 'main',
        message: `commit ${i}`,
        changes: [{ op: 'put', path: `file-${i}`, content: `content ${i}\n`, encoding: 'utf-8' }],
      })
    const [before] = await sizes('grown')
    await trellis.repos.fork({ name: 'grown', newName: 'fork' })
    // The burst of commits settles, and its packs are folded.
    for (let i = 0; i < 400 && listed !== 1; i++) {
      await new Promise((wake) => setTimeout(wake, 25))
      const { id } = await app.database.db
        .selectFrom('repos')
        .select('id')
        .where('name', '=', 'grown')
        .executeTakeFirstOrThrow()
      const rows = await app.database.db
        .selectFrom('repo_packs')
        .select('pack_id')
        .where('repo_id', '=', id)
        .execute()
      listed = rows.length
    }
    assert.equal(listed, 1)
    const [said, summed] = await sizes('grown')
    assert.equal(said, summed)
    assert.ok(said > 0 && said < before)
    assert.deepEqual(await sizes('fork'), [before, before])
  })
})
