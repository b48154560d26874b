import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { canonicalJson } from '../platform/hashes.ts'
import { taskRecord } from '../testing/index.ts'
import { parseSchema } from './schema.ts'
import { schemaHash } from './schema-hash.ts'

const task = {
  ...taskRecord,
  fields: {
    ...taskRecord.fields,
    due: { type: 'timestamp' },
    notes: { type: 'text' },
    weight: { type: 'number', min: 0.5 },
    urgent: { type: 'boolean', default: false },
    meta: { type: 'json', default: { a: [1] } },
    parent: { type: 'ref', record: 'task' },
  },
  hooks: { onCreate: true },
}

const field = (field: unknown) => ({ name: 'r', fields: { f: field } })
const index = (...indexes: unknown[]) => ({
  name: 'r',
  fields: { a: { type: 'string' }, b: { type: 'integer' }, j: { type: 'json' } },
  indexes,
})
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { type: 'string' }]))

const broken: [title: string, schema: unknown, ...paths: string[]][] = [
  ['no object', 7, ''],
  ['null', null, ''],
  ['a list', [], ''],
  ['nothing in it', {}, 'name', 'fields'],
  ['an unknown key', { ...task, index: [] }, 'index'],
  ['a name with a dash', { ...task, name: 'a-b' }, 'name'],
  ['a name that is too long', { ...task, name: 'a'.repeat(65) }, 'name'],
  ['fields that are a list', { name: 'r', fields: [] }, 'fields'],
  ['too many fields', { name: 'r', fields: many(65) }, 'fields'],
  [
    'a prototype for a field',
    JSON.parse('{"name":"r","fields":{"__proto__":{"type":"string"}}}'),
    'fields.__proto__',
  ],
  ['a column for a field', { name: 'r', fields: { id: { type: 'string' } } }, 'fields.id'],
  ['a word of filters for a field', { name: 'r', fields: { or: { type: 'string' } } }, 'fields.or'],
  ['a field that is no object', field('string'), 'fields.f'],
  ['no type', field({}), 'fields.f.type'],
  ['an unknown type', field({ type: 'date' }), 'fields.f.type'],
  ['an inherited type', field({ type: 'toString' }), 'fields.f.type'],
  ['an unknown option', field({ type: 'string', pattern: '.*' }), 'fields.f.pattern'],
  ['an option of another type', field({ type: 'boolean', min: 1 }), 'fields.f.min'],
  ['a unique json', field({ type: 'json', unique: true }), 'fields.f.unique'],
  [
    'flags that are none',
    field({ type: 'string', required: 1, unique: 'yes' }),
    'fields.f.required',
    'fields.f.unique',
  ],
  [
    'a bound of the wrong type',
    field({ type: 'integer', min: 1.5, max: '9' }),
    'fields.f.min',
    'fields.f.max',
  ],
  ['bounds that leave nothing', field({ type: 'number', min: 2, max: 1 }), 'fields.f.max'],
  ['a length of nothing', field({ type: 'text', maxLength: 0 }), 'fields.f.maxLength'],
  ['a default of the wrong type', field({ type: 'integer', default: '3' }), 'fields.f.default'],
  ['a default out of bounds', field({ type: 'integer', max: 2, default: 3 }), 'fields.f.default'],
  ['a default of null', field({ type: 'string', default: null }), 'fields.f.default'],
  ['a default that is too long', field({ type: 'string', maxLength: 1, default: 'ab' }), 'fields.f.default'],
  ['a default of a ref', field({ type: 'ref', record: 'r', default: 'rec_1' }), 'fields.f.default'],
  ['a ref to nothing', field({ type: 'ref' }), 'fields.f.record'],
  ['an enum without values', field({ type: 'enum' }), 'fields.f.values'],
  ['an enum of numbers', field({ type: 'enum', values: [1] }), 'fields.f.values'],
  ['an enum with a value twice', field({ type: 'enum', values: ['a', 'b', 'a'] }), 'fields.f.values.2'],
  ['a default that is no value', field({ type: 'enum', values: ['a'], default: 'b' }), 'fields.f.default'],
  [
    'transitions from and to what is no value',
    field({ type: 'enum', values: ['a'], transitions: { a: ['b', 'a'], c: [], __proto: 1 } }),
    'fields.f.transitions.a.0',
    'fields.f.transitions.c',
    'fields.f.transitions.__proto',
    'fields.f.transitions.__proto',
  ],
  ['indexes that are no list', { ...index(), indexes: 'a' }, 'indexes'],
  ['an index of an unknown field', index('c'), 'indexes.0'],
  ['an index of an inherited name', index('constructor'), 'indexes.0'],
  ['an index with a space', index('a, b'), 'indexes.0'],
  ['an index of json', index('a', 'j'), 'indexes.1'],
  ['an index with a field twice', index('a,a'), 'indexes.0'],
  ['an index twice', index('a', 'b', 'a'), 'indexes.2'],
  [
    'too many indexes',
    index(...Array.from({ length: 17 }, () => 7)),
    'indexes',
    ...Array.from({ length: 17 }, (_, i) => `indexes.${i}`),
  ],
  ['unknown hooks', { ...task, hooks: { onDelete: true, onCreate: 1 } }, 'hooks.onDelete', 'hooks.onCreate'],
  ['a drop of what is there', { ...task, drop: ['gone', 'title'] }, 'drop.1'],
]

describe('a record schema', () => {
  it('is read with everything it can say', () => {
    const { schema, issues } = parseSchema({ ...task, drop: ['gone'] })
    assert.deepEqual(issues, undefined)
    assert.deepEqual(schema?.indexes, [['status'], ['status', 'priority']])
    assert.deepEqual(schema?.drop, ['gone'])
    assert.deepEqual(schema?.fields.get('title'), {
      type: 'string',
      required: true,
      unique: false,
      maxLength: 200,
    })
    assert.deepEqual(schema?.fields.get('status')?.transitions?.get('doing'), ['open', 'done'])
    assert.equal(schema?.fields.size, 9)
  })

  it('may have a field that is named as something objects inherit', () => {
    const { schema } = parseSchema({ name: 'r', fields: { constructor: { type: 'string' } } })
    assert.deepEqual([...(schema?.fields.keys() ?? [])], ['constructor'])
  })

  for (const [title, schema, ...paths] of broken)
    it(`is refused with ${title}`, () => {
      const { issues } = parseSchema(schema)
      assert.deepEqual(issues?.map(({ path }) => path?.join('.')).sort(), paths.toSorted())
    })
})

describe('the hash of a schema', () => {
  it('depends neither on the order of keys nor on what may be dropped', () => {
    const turned = Object.fromEntries(Object.entries({ ...task, drop: ['x'] }).toReversed())
    assert.equal(schemaHash(turned), schemaHash(task))
    assert.notEqual(schemaHash({ ...task, indexes: [] }), schemaHash(task))
    assert.match(schemaHash(task), /^sha256:[0-9a-f]{64}$/)
  })

  it('is of JSON as RFC 8785 writes it', () => {
    const value = { numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27], b: null, é: 'é\n', 1: false }
    assert.equal(
      canonicalJson(value),
      '{"1":false,"b":null,"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"é":"é\\n"}',
    )
  })
})
