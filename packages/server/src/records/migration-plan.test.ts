import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keyOf } from './keys.ts'
import { compareSchemas, planFrom } from './migration-plan.ts'
import type { Data } from './rows.ts'
import { parseSchema, type Schema } from './schema.ts'
import { changed } from './upgrades.ts'

type Fields = Record<string, object>
interface Case {
  title: string
  from: Fields | { fields: Fields; indexes?: string[]; hooks?: object }
  to: Case['from'] & { drop?: string[] }
  rows?: Data[]
  kind: string
  steps: string[]
  reasons?: string[]
  /** What the rows are read as afterwards. */
  read?: Data[]
}

const parse = (given: Case['to']): Schema => {
  const isFields = !('fields' in given) || 'type' in given.fields
  const { schema, issues } = parseSchema({ name: 'r', ...(isFields ? { fields: given } : given) })
  assert.deepEqual(issues, undefined)
  return schema as Schema
}

const text = { type: 'string' }
const integer = { type: 'integer' }
const choice = (...values: string[]) => ({ type: 'enum', values })
const a1 = [{ a: '1' }]

const cases: Case[] = [
  { title: 'nothing new', from: { a: text }, to: { a: text }, rows: a1, kind: 'noop', steps: [] },
  {
    title: 'the same in other words',
    from: { a: text },
    to: { a: { ...text, required: false } },
    kind: 'noop',
    steps: [],
  },
  {
    title: 'a new field',
    from: { a: text },
    to: { a: text, due: { type: 'timestamp' } },
    rows: a1,
    kind: 'migrate',
    steps: ['add field due'],
    read: a1,
  },
  {
    title: 'a new field with a default',
    from: { a: text },
    to: { a: text, priority: { ...integer, required: true, default: 3 } },
    rows: a1,
    kind: 'migrate',
    steps: ['add field priority', 'backfill priority = 3'],
    read: [{ a: '1', priority: 3 }],
  },
  {
    title: 'a new field with a default, and no rows',
    from: {},
    to: { p: { ...integer, default: 3 } },
    kind: 'migrate',
    steps: ['add field p'],
  },
  {
    title: 'a new required field without a default',
    from: {},
    to: { b: { ...text, required: true } },
    rows: [{}, {}],
    kind: 'blocked',
    steps: ['add field b'],
    reasons: ['b is new and required, has no default, and 2 rows have no value for it'],
  },
  {
    title: 'the same without rows',
    from: {},
    to: { b: { ...text, required: true } },
    kind: 'migrate',
    steps: ['add field b'],
  },
  {
    title: 'a new unique field with a default',
    from: {},
    to: { b: { ...text, unique: true, default: 'x' } },
    rows: [{}, {}],
    kind: 'blocked',
    steps: ['add field b', 'backfill b = "x"'],
    reasons: ['b becomes unique, and 2 rows have a value that another row has, too'],
  },
  {
    title: 'a field that is dropped and holds data',
    from: { a: text, b: text },
    to: { a: text },
    rows: [{ b: 'x' }, { a: 'y' }],
    kind: 'blocked',
    steps: ['drop field b'],
    reasons: ['b is dropped, and 1 row has a value in it that `drop` does not give up'],
  },
  {
    title: 'a field that is dropped and may be',
    from: { a: text, b: text },
    to: { fields: { a: text }, drop: ['b'] },
    rows: [{ a: 'y', b: 'x' }],
    kind: 'migrate',
    steps: ['drop field b'],
    read: [{ a: 'y' }],
  },
  {
    title: 'a field that is dropped and holds nothing',
    from: { b: text },
    to: {},
    rows: [{}],
    kind: 'migrate',
    steps: ['drop field b'],
    read: [{}],
  },
  {
    title: 'integer to number',
    from: { a: integer },
    to: { a: { type: 'number' } },
    rows: [{ a: 1 }],
    kind: 'migrate',
    steps: ['change type of a from integer to number'],
    read: [{ a: 1 }],
  },
  {
    title: 'string to text',
    from: { a: text },
    to: { a: { type: 'text' } },
    rows: a1,
    kind: 'migrate',
    steps: ['change type of a from string to text'],
    read: a1,
  },
  {
    title: 'text to string',
    from: { a: { type: 'text' } },
    to: { a: text },
    rows: a1,
    kind: 'migrate',
    steps: ['change type of a from text to string'],
    read: a1,
  },
  {
    title: 'anything to json',
    from: { a: choice('1') },
    to: { a: { type: 'json' } },
    rows: a1,
    kind: 'migrate',
    steps: ['change type of a from enum to json'],
    read: a1,
  },
  {
    title: 'string to integer that parses',
    from: { a: text },
    to: { a: integer },
    rows: [{ a: '12' }, { a: '-7' }, {}],
    kind: 'migrate',
    steps: ['change type of a from string to integer'],
    read: [{ a: 12 }, { a: -7 }, {}],
  },
  {
    title: 'string to integer that does not',
    from: { a: text },
    to: { a: integer },
    rows: [{ a: '12' }, { a: '1.5' }, { a: '' }, { a: ' 1' }, { a: '9007199254740993' }],
    kind: 'blocked',
    steps: ['change type of a from string to integer'],
    reasons: ['a changes from string to integer, and 4 rows have a value that is none'],
  },
  {
    title: 'text to number',
    from: { a: { type: 'text' } },
    to: { a: { type: 'number' } },
    rows: [{ a: '1e3' }, { a: '.5' }],
    kind: 'migrate',
    steps: ['change type of a from text to number'],
    read: [{ a: 1000 }, { a: 0.5 }],
  },
  {
    title: 'text to number that is none',
    from: { a: { type: 'text' } },
    to: { a: { type: 'number' } },
    rows: [{ a: 'Infinity' }, { a: '0x10' }, { a: '1e999' }],
    kind: 'blocked',
    steps: ['change type of a from text to number'],
    reasons: ['a changes from text to number, and 3 rows have a value that is none'],
  },
  {
    title: 'values that are one after they were converted',
    from: { a: { ...text, unique: true } },
    to: { a: { ...integer, unique: true } },
    rows: [{ a: '1' }, { a: '01' }],
    kind: 'blocked',
    steps: ['change type of a from string to integer'],
    reasons: ['a becomes unique, and 2 rows have a value that another row has, too'],
  },
  {
    title: 'converted values out of bounds',
    from: { a: text },
    to: { a: { ...integer, max: 5 } },
    rows: [{ a: '6' }, { a: 'x' }, { a: '5' }],
    kind: 'blocked',
    steps: ['change type of a from string to integer', 'set max of a to 5'],
    reasons: [
      'a changes from string to integer, and 1 row has a value that is none',
      'a has other bounds, and 1 row has a value outside of them',
    ],
  },
  {
    title: 'another change of type with values',
    from: { a: text },
    to: { a: { type: 'boolean' } },
    rows: [{ a: 'true' }, {}],
    kind: 'blocked',
    steps: ['change type of a from string to boolean'],
    reasons: ['a changes, and 1 row has values that are of type string and not of type boolean'],
  },
  {
    title: 'another change of type without',
    from: { a: text },
    to: { a: { type: 'boolean' } },
    rows: [{}],
    kind: 'migrate',
    steps: ['change type of a from string to boolean'],
    read: [{}],
  },
  {
    title: 'a ref to elsewhere',
    from: { a: { type: 'ref', record: 'x' } },
    to: { a: { type: 'ref', record: 'y' } },
    rows: [{ a: 'rec_1' }],
    kind: 'blocked',
    steps: ['let a lead to record y'],
    reasons: ['a changes, and 1 row has values that lead to x and not to y'],
  },
  {
    title: 'a field that becomes required',
    from: { a: text },
    to: { a: { ...text, required: true } },
    rows: [{}, { a: 'x' }],
    kind: 'blocked',
    steps: ['make a required'],
    reasons: ['a becomes required, and 1 row has no value in it'],
  },
  {
    title: 'a field that becomes required, with a default',
    from: { a: text },
    to: { a: { ...text, required: true, default: 'z' } },
    rows: [{}, { a: 'x' }],
    kind: 'migrate',
    steps: ['make a required', 'backfill a = "z"', 'set default of a to "z"'],
    read: [{ a: 'z' }, { a: 'x' }],
  },
  {
    title: 'a unique field that becomes required, with one default for all',
    from: { a: { ...text, unique: true } },
    to: { a: { ...text, unique: true, required: true, default: 'z' } },
    rows: [{}, {}, { a: 'x' }],
    kind: 'blocked',
    steps: ['make a required', 'backfill a = "z"', 'set default of a to "z"'],
    reasons: ['a becomes unique, and 2 rows have a value that another row has, too'],
  },
  {
    title: 'an optional field that gets a default',
    from: { a: text },
    to: { a: { ...text, default: 'z' } },
    rows: [{}],
    kind: 'migrate',
    steps: ['set default of a to "z"'],
    read: [{}],
  },
  {
    title: 'less to ask for',
    from: { a: { ...text, required: true, unique: true, default: 'x' } },
    to: { a: text },
    kind: 'migrate',
    steps: ['make a optional', 'remove default of a', 'let values of a repeat'],
  },
  {
    title: 'a field that becomes unique and is not',
    from: { a: text },
    to: { a: { ...text, unique: true } },
    rows: [{ a: 'x' }, { a: 'x' }, { a: 'y' }, {}, {}],
    kind: 'blocked',
    steps: ['make a unique'],
    reasons: ['a becomes unique, and 2 rows have a value that another row has, too'],
  },
  {
    title: 'a field that becomes unique and is',
    from: { a: text },
    to: { a: { ...text, unique: true } },
    rows: [{ a: 'x' }, {}, {}],
    kind: 'migrate',
    steps: ['make a unique'],
  },
  {
    title: 'bounds that rows break',
    from: { a: { ...integer, min: 0, max: 9 } },
    to: { a: { ...integer, min: 2 } },
    rows: [{ a: 1 }, { a: 2 }],
    kind: 'blocked',
    steps: ['set min of a to 2', 'remove max of a'],
    reasons: ['a has other bounds, and 1 row has a value outside of them'],
  },
  {
    title: 'wider bounds',
    from: { a: { ...text, maxLength: 3 } },
    to: { a: { ...text, maxLength: 5 } },
    rows: [{ a: 'abc' }],
    kind: 'migrate',
    steps: ['set maxLength of a to 5'],
  },
  {
    title: 'a value that is in use and goes',
    from: { a: choice('x', 'y', 'z') },
    to: { a: choice('z', 'w') },
    rows: [{ a: 'x' }, { a: 'x' }, { a: 'z' }],
    kind: 'blocked',
    steps: ['add value w to a', 'remove value x of a', 'remove value y of a'],
    reasons: ['a loses the value x, and 2 rows have it'],
  },
  {
    title: 'other transitions',
    from: { a: choice('x') },
    to: { a: { ...choice('x'), transitions: { x: [] } } },
    kind: 'migrate',
    steps: ['change transitions of a'],
  },
  {
    title: 'other indexes',
    from: { fields: { a: text, b: text }, indexes: ['a', 'b'] },
    to: { fields: { a: text, b: text }, indexes: ['a,b', 'b'] },
    kind: 'migrate',
    steps: ['add index a,b', 'drop index a'],
  },
  {
    title: 'other hooks',
    from: { fields: {} },
    to: { fields: {}, hooks: { onCreate: true } },
    kind: 'migrate',
    steps: ['change hooks'],
  },
  {
    title: 'hooks that are off already',
    from: { fields: {} },
    to: { fields: {}, hooks: { onCreate: false } },
    kind: 'noop',
    steps: [],
  },
]

/** How many rows fail each check, counted in the plainest way. */
function count(from: Schema, to: Schema, rows: readonly Data[]): number[] {
  const { checks, changes } = compareSchemas(from, to)
  return checks.map(({ field, fails }) => {
    if (fails) return rows.filter(fails).length
    const keys = rows.flatMap((row) => {
      const value = changed(row, changes)[field]
      return value === undefined ? [] : [keyOf([value as string])]
    })
    return keys.filter((key, i) => keys.some((other, j) => other === key && i !== j)).length
  })
}

describe('the plan of a migration', () => {
  for (const { title, from, to, rows = [], kind, steps, reasons, read } of cases)
    it(`of ${title} is ${kind}`, () => {
      const [before, after] = [parse(from), parse(to)]
      const comparison = compareSchemas(before, after)
      assert.deepEqual(planFrom(comparison, { rows: rows.length, failing: count(before, after, rows) }), {
        kind,
        steps,
        ...(reasons && { reasons }),
      })
      if (read)
        assert.deepEqual(
          rows.map((row) => changed(row, comparison.changes)),
          read,
        )
    })
})
