import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Hold } from '../background/leased.ts'
import { Fault } from '../platform/fault.ts'
import { createBlank } from '../runtime/ctx/blanking.ts'
import type { Database } from '../schema.ts'
import { createJournals } from './journal.ts'
import type { RunRow } from './store.ts'
import type { Transitions } from './transitions.ts'

describe('what a workflow asks for', () => {
  // What is refused is so before anything is looked at.
  const journal = createJournals({
    database: {} as Database,
    clock: () => 0,
    transitions: {} as Transitions,
  }).openFor({} as RunRow, {} as Hold, createBlank([]))

  it('is refused where no step could be meant, and told at its field', async () => {
    const step = { index: 0, name: 'a' }
    const problems: [object, string][] = [
      [{ name: 'x'.repeat(201), kind: 'sleep', ms: 1 }, 'name'],
      [{ kind: 'do', options: { retires: 3 } }, 'options'],
      [{ kind: 'do', options: { timeoutMs: 0 } }, 'options.timeoutMs'],
      [{ kind: 'sleepUntil', ts: '2030-01-01' }, 'ts'],
      [{ kind: 'waitForEvent', event: { type: 'Bad' } }, 'event.type'],
      [{ kind: 'waitForEvent', event: { type: 'a.b', timeout: 5 } }, 'event'],
    ]
    for (const [asked, path] of problems)
      await assert.rejects(
        journal.call('step.begin', [{ ...step, ...asked }], new AbortController().signal),
        (error) =>
          error instanceof Fault &&
          error.code === 'BAD_REQUEST' &&
          (error.data as { issues: { path: string[] }[] }).issues[0]?.path.join('.') === path,
        path,
      )
  })
})
