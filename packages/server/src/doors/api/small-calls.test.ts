import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { largerWork } from '../../platform/larger-work.ts'
import { createSqlite, useApp } from '../../testing/index.ts'
import { countTurns } from '../../testing/turns.ts'

/** Work of an organization that is always due, more of it than goes into a turn. */
function crowd(owner: string): Disposable {
  let isOver = false
  async function member(): Promise<void> {
    while (!isOver) {
      await largerWork.take(owner)
      for (const until = performance.now() + 1; performance.now() < until; );
    }
  }
  for (let i = 0; i < 8; i++) void member()
  return {
    [Symbol.dispose]: () => {
      isOver = true
    },
  }
}

describe('beside a crowd of larger work', () => {
  const app = useApp(createSqlite)
  const call = (path: string, input: object) => app.call(path, input, { token: app.ownerKey })

  const turnsOf = async (path: string): Promise<number> => {
    await call(path, { name: 'demo' })
    using turns = countTurns()
    const { status } = await call(path, { name: 'demo' })
    assert.equal(status, 200)
    return turns.count
  }

  before(async () => {
    const changes = [{ op: 'put', path: 'a.txt', content: 'a\n' }]
    await call('repos/create', { name: 'demo' })
    await call('git/commits/create', { name: 'demo', branch: 'main', message: 'Begin', changes })
  })

  it('of its organization a call for objects waits for its turn, and a small one does not', async () => {
    const { org_id } = await app.database.db.selectFrom('repos').select('org_id').executeTakeFirstOrThrow()
    using _ = crowd(org_id)
    const [small, larger] = [await turnsOf('repos/get'), await turnsOf('git/trees/get')]
    assert.ok(larger > small, `${larger} turns for objects, ${small} for a small call`)
  })

  it('of another organization neither waits', async () => {
    using _ = crowd('org_other')
    const [small, larger] = [await turnsOf('repos/get'), await turnsOf('git/trees/get')]
    assert.ok(larger <= small + 1, `${larger} turns for objects, ${small} for a small call`)
  })
})
