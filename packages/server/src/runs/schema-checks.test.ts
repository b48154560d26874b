import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { useInSuite } from '../testing/index.ts'
import { createSchemaChecks } from './schema-checks.ts'

describe('values held against schemas', () => {
  const checks = useInSuite(async (made) =>
    made.adopt(createSchemaChecks({ longestMs: 1_000 }), (made) => made.close()),
  )
  const check = (schema: object, value: unknown, id = 'org_1') =>
    checks.check({ id }, { schema: JSON.stringify(schema), value: JSON.stringify(value) })

  it('tell the first problem at its place, in both drafts', async () => {
    const schema = { properties: { a: { type: 'array', items: { type: 'integer' } } }, required: ['a'] }
    for (const $schema of [undefined, 'http://json-schema.org/draft-07/schema#']) {
      assert.equal(await check({ $schema, ...schema }, { a: [1] }), undefined)
      assert.equal(await check({ $schema, ...schema }, { a: [1, 'x'] }), '/a/1 must be integer')
      assert.equal(await check({ $schema, ...schema }, {}), "the value must have required property 'a'")
    }
    const tuple = { prefixItems: [{ type: 'string' }], items: false }
    assert.equal(await check(tuple, ['x']), undefined)
    assert.notEqual(await check(tuple, ['x', 1]), undefined)
    const tree = { $defs: { node: { type: 'array', items: { $ref: '#/$defs/node' } } }, $ref: '#/$defs/node' }
    assert.equal(await check(tree, [[[]]]), undefined)
    assert.equal(await check(tree, [[[1]]]), '/0/0/0 must be array')
  })

  it('take no time with patterns that would take others years', async () => {
    assert.match((await check({ pattern: '^(a+)+$' }, `${'a'.repeat(5_000)}!`)) ?? '', /must match pattern/)
    const two = { properties: { a: { pattern: '^x' }, b: { pattern: '^y' } } }
    assert.match((await check(two, { a: 'x', b: 'x' })) ?? '', /^\/b must match pattern/)
    assert.equal(await check({ patternProperties: { '^x': { type: 'string' } } }, { xa: 'y' }), undefined)
  })

  it('are given up when they take too long, and the next is checked all the same', async () => {
    const many = Array.from({ length: 60_000 }, (_, i) => ({ i }))
    assert.match((await check({ uniqueItems: true }, many)) ?? '', /takes too much/)
    assert.equal(await check({ type: 'integer' }, 1), undefined)
  })

  it('wait for those of somebody whose checks take long only once', async () => {
    const many = Array.from({ length: 60_000 }, (_, i) => ({ i }))
    const order: string[] = []
    const slow = [1, 2].map((n) =>
      check({ uniqueItems: true }, many, 'org_slow').then(() => order.push(`slow ${n}`)),
    )
    await check({ type: 'integer' }, 1, 'org_quick').then(() => order.push('quick'))
    await slow[0]
    await check({ type: 'integer' }, 1, 'org_quick').then(() => order.push('quick'))
    await Promise.all(slow)
    assert.deepEqual(order, ['slow 1', 'quick', 'quick', 'slow 2'])
  })
})
