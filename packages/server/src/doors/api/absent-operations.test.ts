import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allOperations } from '../../operations/implement.ts'
import { createSqlite, useApp } from '../../testing/index.ts'

/** What the contract promises and the server does not do yet. This list may only shrink. */
const absent = ['/daemons/list']

describe('operations that are still absent', () => {
  const app = useApp(createSqlite)

  it('are exactly the listed ones: take an operation off the list when you build it, and never add one', async () => {
    const found: string[] = []
    for (const { path } of allOperations()) {
      const { status, body } = await app.call(path.slice(1), {})
      if (status === 404 && body.code === 'NOT_FOUND') found.push(path)
    }
    assert.deepEqual(found.sort(), absent)
  })
})
