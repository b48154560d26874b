import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hashOfJson } from '../platform/hashes.ts'
import { changesBetween } from './promotion-changes.ts'
import type { CanonicalExtensionRow } from './store.ts'

interface Given {
  name?: string
  module?: string
  capabilities?: string[]
  record?: string
  schema?: string
  on?: object
  daemon?: object
}

function row({ name = 'a', module = 'm', record, schema = 's', ...rest }: Given = {}): CanonicalExtensionRow {
  const descriptor = { version: 1, name, ...rest, ...(record && { record: { name: record, schema } }) }
  const granted = (rest.capabilities ?? []).toSorted()
  return {
    repo_id: 'repo_1',
    name,
    descriptor: JSON.stringify(descriptor),
    descriptor_hash: hashOfJson(descriptor),
    module_path: `extensions/${name}/index.ts`,
    module_hash: module,
    bundler_version: 'esbuild',
    granted: JSON.stringify(granted),
    grant_hash: hashOfJson(granted),
    record_name: record ?? null,
    schema_hash: record ? schema : null,
  }
}

const on = { push: { branches: ['main'] } }
const daemon = { scheduleIntervalMinutes: 5 }
const task = { record: 'task', schemaHash: 's' }

const TABLE: [what: string, before: Given | null, after: Given | null, change: object | undefined][] = [
  ['nothing', {}, {}, undefined],
  ['one that comes', null, {}, { change: 'added', module: true }],
  ['one that goes', {}, null, { change: 'removed', module: true }],
  ['other code', {}, { module: 'n' }, { change: 'changed', module: true }],
  [
    'capabilities',
    { capabilities: ['repo:read', 'net:a.com'] },
    { capabilities: ['repo:write', 'repo:read'] },
    { change: 'changed', grants: { added: ['repo:write'], removed: ['net:a.com'] } },
  ],
  ['their order', { capabilities: ['a', 'b'] }, { capabilities: ['b', 'a'] }, { change: 'changed' }],
  [
    'all that it was granted, with it',
    { capabilities: ['repo:read'], on, daemon, record: 'task' },
    null,
    {
      change: 'removed',
      module: true,
      grants: { added: [], removed: ['repo:read'] },
      schema: { before: task, after: null },
      trigger: 'removed',
      daemon: 'removed',
    },
  ],
  ['a record', {}, { record: 'task' }, { change: 'changed', schema: { before: null, after: task } }],
  [
    'its schema',
    { record: 'task' },
    { record: 'task', schema: 't' },
    { change: 'changed', schema: { before: task, after: { record: 'task', schemaHash: 't' } } },
  ],
  ['a trigger', {}, { on }, { change: 'changed', trigger: 'added' }],
  ['what triggers it', { on }, { on: { push: {} } }, { change: 'changed', trigger: 'changed' }],
  ['a trigger that is none', {}, { on: {} }, { change: 'changed' }],
  ['a daemon', { daemon }, {}, { change: 'changed', daemon: 'removed' }],
  [
    'how often it wakes',
    { daemon },
    { daemon: { scheduleIntervalMinutes: 6 } },
    { change: 'changed', daemon: 'changed' },
  ],
]

describe('what a promotion tells', () => {
  for (const [what, before, after, change] of TABLE)
    it(`of ${what}`, () => {
      const rows = (given: Given | null) => (given ? [row(given)] : [])
      assert.deepEqual(changesBetween(rows(before), rows(after)), {
        changes: change ? [{ extension: 'a', ...change }] : [],
        changesTruncated: false,
      })
    })

  it('in the order of names, of those that changed', () => {
    const { changes } = changesBetween(
      [row({ name: 'c' }), row({ name: 'b' })],
      [row({ name: 'a' }), row({ name: 'b' })],
    )
    assert.deepEqual(
      changes.map(({ extension, change }) => `${extension} ${change}`),
      ['a added', 'c removed'],
    )
  })

  it('up to a size, whatever there is to tell', () => {
    const capabilities = Array.from({ length: 100 }, (_, i) => `net:${'x'.repeat(250)}${i}.com`)
    const all = Array.from({ length: 256 }, (_, i) => row({ name: `e${i}`, capabilities }))
    const told = changesBetween([], all)
    assert.ok(told.changesTruncated && told.changes.length >= 2)
    assert.ok(JSON.stringify(told).length < 66 * 1024)
    // The most that one alone can say is told in whole.
    const others = capabilities.map((capability) => `${capability}.org`)
    const [before, after] = [row({ capabilities }), row({ capabilities: others })]
    assert.equal(changesBetween([before], [after]).changesTruncated, false)
  })
})
