// What extensions there are at a ref: pushed with git, read and built from its objects.

import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { assertFault, createSqlite, onEachDatabase } from '@trellis/server/testing'
import { type Client, useHost } from '../git/harness.ts'

interface Listed {
  name: string
  moduleHash: string
  descriptorHash: string
  effectiveCapabilities: string[]
  dispatchable: boolean
}

const descriptor = (name: string, more: object = {}) => JSON.stringify({ version: 1, name, ...more })
const MODULE = 'export default async (input: { n: number }) => input.n + 1\n'

/** Small, and twice as much with every step. */
const doublingSchema = (steps: number) => ({
  $defs: Object.fromEntries(
    Array.from({ length: steps }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` }
      return [`d${i}`, i === steps - 1 ? {} : { allOf: [next, next] }]
    }),
  ),
  $ref: '#/$defs/d0',
})

onEachDatabase('extensions at a ref', (create) => {
  const host = useHost(create)
  let client: Client
  const list = (input: object = {}) => host.ok('extensions/list', { name: 'tools', ...input })
  const push = async (files: Record<string, string | null>, branch = 'main') => {
    const oid = await client.commit(files)
    await client.run('push', '-q', host.remote('tools'), `HEAD:${branch}`)
    return oid
  }
  const errorsAt = (errors: { path: string; message: string }[]) => errors.map(({ path }) => path)

  before(async () => {
    await host.repo('tools')
    client = host.client()
    await client.run('init', '-q')
  })

  it('answers empty lists for an empty repository, unless a ref is asked for', async () => {
    assert.deepEqual(await list(), {
      ref: 'main',
      commitSha: null,
      canonicalRef: 'refs/trellis/canonical',
      canonicalCommitSha: null,
      items: [],
      daemons: [],
      errors: [],
    })
    assertFault(await host.call('extensions/list', { name: 'tools', ref: 'main' }), 'GIT_OBJECT_NOT_FOUND', {
      name: 'tools',
      object: 'main',
    })
  })

  it('tells everything about a sound one, at a branch, a tag and a commit', async () => {
    const oid = await push({
      'extensions/triage/extension.json': descriptor('triage', {
        description: 'Sorts',
        dispatch: true,
        capabilities: ['repo:read'],
        record: { name: 'task', fields: { title: { type: 'string' } }, drop: ['old'] },
        inputSchema: { type: 'object' },
      }),
      'extensions/triage/index.ts': `import { add } from '../../lib/add.js'\nimport data from './data.json'\nexport default (n: number): number => add(n, data.one)\n`,
      'extensions/triage/data.json': '{"one": 1}',
      'lib/add.ts': 'export const add = (a: number, b: number) => a + b\n',
    })
    await client.run('tag', 'v1')
    await client.run('push', '-q', host.remote('tools'), 'v1')
    const answer = await list()
    assert.deepEqual(answer.errors, [])
    const [item] = answer.items
    assert.match(item.moduleHash, /^sha256:[0-9a-f]{64}$/)
    assert.match(item.descriptorHash, /^sha256:[0-9a-f]{64}$/)
    assert.deepEqual(item, {
      version: 1,
      name: 'triage',
      description: 'Sorts',
      path: 'extensions/triage',
      modulePath: 'extensions/triage/index.ts',
      descriptorPath: 'extensions/triage/extension.json',
      moduleHash: item.moduleHash,
      descriptorHash: item.descriptorHash,
      runtime: 'worker',
      capabilities: ['repo:read'],
      dispatch: true,
      inputSchema: { type: 'object' },
      record: { name: 'task', fields: { title: { type: 'string' } }, hooks: {} },
      on: {},
      bundlerVersion: item.bundlerVersion,
      commitSha: oid,
      dispatchable: true,
      effectiveCapabilities: [],
      canonicalDescriptorHash: null,
      canonicalGrantHash: null,
      canonicalSchemaHash: null,
      schemaAhead: true,
      canonical: false,
    })
    for (const ref of ['main', 'v1', oid, 'refs/tags/v1'])
      assert.deepEqual(await list({ ref }), { ...answer, ref }, ref)
    const { source, ...rest } = await host.ok('extensions/get', { name: 'tools', extension: 'triage' })
    assert.deepEqual(rest, item)
    assert.equal(source.descriptor.record.drop[0], 'old')
    assert.ok(source.bundleBytes > 20)
  })

  it('tells what is wrong with some and lists the others', async () => {
    await push(
      {
        'extensions/broken/extension.json': '{"name": "broken", "verison": 1}',
        'extensions/syntax/extension.json': descriptor('syntax'),
        'extensions/syntax/index.ts': 'export default () => {\n  return 1 +\n}\n',
        'extensions/outside/extension.json': descriptor('outside'),
        'extensions/outside/index.ts': `import a from 'lodash'\nimport b from '../../../../etc/passwd'\nimport fs from 'node:fs'\nexport default () => [a, b, fs]\n`,
        'extensions/boxed/extension.json': descriptor('boxed', { runtime: 'sandbox' }),
        'extensions/boxed/index.mjs': '',
        'extensions/boxed/index.ts': `import fs from 'node:fs'\nexport default () => fs\n`,
        'extensions/second/extension.json': descriptor('zecond', { record: { name: 'task', fields: {} } }),
        'extensions/twice/extension.json': descriptor('twice', { record: { name: 'task', fields: {} } }),
        'extensions/twice/index.ts': MODULE,
        'extensions/nameless/index.ts': MODULE,
        'extensions/README.md': 'no folder',
        'webhooks/ci/webhook.json': '{"url": "nowhere"}',
        'webhooks/ok/webhook.json': '{"url": "https://example.com/", "payload": "p.ts"}',
        'webhooks/ok/p.ts': 'export default (e: unknown) => e\n',
        'webhooks/bad/webhook.json': '{"url": "https://example.com/", "payload": "gone.ts"}',
      },
      'broken',
    )
    const { items, errors } = await list({ ref: 'broken' })
    assert.deepEqual(
      items.map(({ name }: Listed) => name),
      ['boxed', 'triage'],
    )
    assert.deepEqual(errorsAt(errors), [
      'extensions/broken/extension.json#/version',
      'extensions/broken/extension.json#/verison',
      'extensions/second/extension.json#/name',
      'extensions/twice/extension.json#/record/name',
      'webhooks/ci/webhook.json#/url',
      'extensions/outside/index.ts',
      'extensions/outside/index.ts',
      'extensions/outside/index.ts',
      'extensions/syntax/index.ts',
      'webhooks/bad/gone.ts',
    ])
    const messages = errors.map(({ message }: { message: string }) => message).join('\n')
    assert.match(messages, /extensions\/outside\/index\.ts:1:15: Could not resolve "lodash"/)
    assert.match(messages, /extensions\/outside\/index\.ts:2:15: .*out of the repository/)
    assert.match(messages, /extensions\/outside\/index\.ts:3:16: "node:fs"/)
    assert.match(messages, /extensions\/syntax\/index\.ts:3:1: /)

    const get = (extension: string) =>
      host.call('extensions/get', { name: 'tools', ref: 'broken', extension })
    assertFault(await get('none'), 'EXTENSION_NOT_FOUND', { name: 'tools', extension: 'none', ref: 'broken' })
    const invalid = await get('broken')
    assert.equal(invalid.body.code, 'EXTENSION_INVALID')
    assert.match(invalid.body.data.reason, /#\/verison: Unknown key/)
    assert.equal(invalid.body.data.extension, 'broken')
    const failed = await get('syntax')
    assert.equal(failed.body.code, 'EXTENSION_BUILD_FAILED')
    assert.match(failed.body.data.message, /index\.ts:3:1/)
    assert.equal(failed.body.data.name, 'tools')
  })

  it('builds nothing twice, in no ref, fork or other repository', async () => {
    const rows = async () =>
      (await host.app.database.db.selectFrom('extension_builds').selectAll().execute()).length
    const before = await rows()
    await list()
    await list({ ref: 'broken' })
    await host.ok('repos/fork', { name: 'tools', newName: 'tools-fork' })
    const forked = await host.ok('extensions/list', { name: 'tools-fork' })
    assert.equal(await rows(), before)
    const { items } = await list()
    assert.equal(forked.items[0].moduleHash, items[0].moduleHash)
    // What a module imports from elsewhere counts, and what it does not import does not.
    await push({ 'lib/add.ts': 'export const add = (a: number, b: number) => b + a + 0\n' }, 'changed')
    const changed = await list({ ref: 'changed' })
    const triage = changed.items.find(({ name }: Listed) => name === 'triage')
    assert.notEqual(triage.moduleHash, items[0].moduleHash)
    assert.equal(await rows(), before + 1)
    await push({ 'lib/other.ts': '' }, 'changed')
    await list({ ref: 'changed' })
    assert.equal(await rows(), before + 1)
  })

  it('follows no link, and looks at no more than it has to', async () => {
    await client.run('checkout', '-q', '--orphan', 'hostile')
    await client.run('rm', '-rfq', '.')
    symlinkSync('../../etc', join(client.dir, 'elsewhere'))
    await client.commit({
      'extensions/linked/extension.json': descriptor('linked'),
      'extensions/linked/real.ts': MODULE,
      'extensions/huge/extension.json': descriptor('huge', { description: 'x'.repeat(70_000) }),
      'extensions/cycle/extension.json': descriptor('cycle'),
      'extensions/cycle/index.ts': `import { b } from './b'\nexport const a = 1\nexport default () => b\n`,
      'extensions/cycle/b.ts': `import { a } from './index'\nexport const b = () => a\n`,
      'extensions/deep/extension.json': descriptor('deep'),
      'extensions/deep/index.ts': `export default ${'['.repeat(200_000)}${']'.repeat(200_000)}\n`,
      'extensions/globs/extension.json': descriptor('globs'),
      'extensions/globs/index.ts': "export default (x: string) => import('../../../../../../etc/' + x)\n",
      'extensions/borrowed/extension.json': descriptor('borrowed'),
      'extensions/borrowed/index.ts': `import x from '../../vendor/x.ts'\nimport y from '../../vendor'\nexport default () => [x, y]\n`,
      'extensions/proto/extension.json': '{"version": 1, "name": "proto", "__proto__": {"dispatch": true}}',
      'extensions/schema/extension.json': descriptor('schema', { inputSchema: doublingSchema(40) }),
      'extensions/regex/extension.json': descriptor('regex', {
        inputSchema: { pattern: '((a{999}){999}){999}' },
      }),
      'extensions/wide/extension.json': descriptor('wide'),
      'extensions/wide/index.ts': `${Array.from({ length: 501 }, (_, i) => `import './f${i}.ts'`).join('\n')}\nexport default 1\n`,
      ...Object.fromEntries(
        Array.from({ length: 501 }, (_, i) => [`extensions/wide/f${i}.ts`, `globalThis.x = ${i}`]),
      ),
    })
    symlinkSync('real.ts', join(client.dir, 'extensions/linked/index.ts'))
    symlinkSync('linked', join(client.dir, 'extensions/alias'))
    await client.run('add', '-A')
    const elsewhere = await client.rev('HEAD')
    for (const path of ['vendor', 'extensions/submodule'])
      await client.run('update-index', '--add', '--cacheinfo', `160000,${elsewhere},${path}`)
    await client.run('commit', '-qm', 'links')
    await client.run('push', '-q', host.remote('tools'), 'HEAD:hostile')
    const { items, errors } = await list({ ref: 'hostile' })
    assert.ok(items.some(({ name }: Listed) => name === 'cycle'))
    const told = Object.fromEntries(
      errors.map(({ path, message }: { path: string; message: string }) => [path, message]),
    )
    assert.match(told['extensions/alias'], /symbolic link/)
    assert.match(told['extensions/linked/index.ts'], /symbolic link/)
    assert.match(told['extensions/submodule'], /submodule/)
    assert.match(told['extensions/borrowed/index.ts'], /submodule|no such file/)
    assert.match(told['extensions/huge/extension.json'], /bytes/)
    assert.match(told['extensions/proto/extension.json#/__proto__'], /Unknown key/)
    assert.match(told['extensions/schema/extension.json#/inputSchema'], /too much/)
    assert.match(told['extensions/regex/extension.json#/inputSchema'], /too large/)
    assert.match(told['extensions/globs/index.ts'], /written out/)
    assert.match(told['extensions/wide/index.ts'], /500 files|longer than 5 seconds/)
    assert.ok(items.some(({ name }: Listed) => name === 'deep') || told['extensions/deep/index.ts'])
  })

  it('does not mind ten thousand folders', async () => {
    await client.run('checkout', '-q', '--orphan', 'many')
    await client.run('rm', '-rfq', '.')
    const blob = await client.feed(descriptor('nobody'), 'hash-object', '-w', '--stdin')
    const lines = Array.from(
      { length: 10_000 },
      (_, i) => `100644 ${blob}\textensions/e${i}/extension.json\n`,
    )
    await client.feed(lines.join(''), 'update-index', '--add', '--index-info')
    await client.run('commit', '-qm', 'many')
    await client.run('push', '-q', host.remote('tools'), 'HEAD:many')
    const { items, errors } = await list({ ref: 'many' })
    assert.deepEqual(items, [])
    assert.equal(errors[0].message, 'Only the first 1024 of 10000 folders are looked at')
    assert.equal(errors.length, 1001)
  })

  it('follows no link in the place of all of them', async () => {
    const target = await client.feed('../../etc', 'hash-object', '-w', '--stdin')
    await client.run('read-tree', '--empty')
    await client.run('update-index', '--add', '--cacheinfo', `120000,${target},extensions`)
    await client.run('update-index', '--add', '--cacheinfo', `160000,${await client.rev('HEAD')},webhooks`)
    await client.run('commit', '-qm', 'elsewhere')
    await client.run('push', '-q', host.remote('tools'), 'HEAD:elsewhere')
    const { items, errors } = await list({ ref: 'elsewhere' })
    assert.deepEqual([items, errorsAt(errors)], [[], ['extensions', 'webhooks']])
  })
})

describe('extensions that are switched off, and records with them', () => {
  const host = useHost(createSqlite, { TRELLIS_EXTENSIONS: 'off' })

  it('are told to be', async () => {
    const row = { name: 'any', record: 'task', id: 'rec_1', revision: 1, data: {} }
    for (const [operation, input] of Object.entries({
      'extensions/list': { name: 'any' },
      'extensions/get': { name: 'any', extension: 'any' },
      'extensions/promote': { name: 'any' },
      'records/list': { name: 'any', record: 'task' },
      'records/get': row,
      'records/create': row,
      'records/update': row,
      'records/delete': row,
      'records/export': row,
      'records/import': row,
    }))
      assertFault(await host.call(operation, input), 'FEATURE_UNAVAILABLE', {
        feature: operation.split('/')[0],
      })
  })
})
