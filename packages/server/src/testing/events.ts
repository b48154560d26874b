import assert from 'node:assert/strict'
import type { TestApp } from './test-app.ts'

/**
 * Does `work` and asserts exactly which events it appends, as `type subject`: `[]` says none. Logs of organizations come
 * first, then those of repositories in the order they were made; each log in its own order.
 */
export async function expectEvents<T>(
  app: TestApp,
  expected: string[] | ((result: T) => string[]),
  work: () => Promise<T>,
): Promise<T> {
  const before = new Set((await logged(app)).map(({ id }) => id))
  const result = await work()
  const appended = (await logged(app)).filter(({ id }) => !before.has(id))
  assert.deepEqual(
    appended.map(({ type, subject }) => `${type} ${subject}`),
    typeof expected === 'function' ? expected(result) : expected,
  )
  return result
}

const logged = (app: TestApp) =>
  app.database.db
    .selectFrom('events')
    .select(['id', 'type', 'subject'])
    .orderBy('scope')
    .orderBy('seq')
    .execute()
