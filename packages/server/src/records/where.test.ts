import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { declared } from '../testing/filters.ts'
import { choosePath } from './access-path.ts'
import { parseSchema } from './schema.ts'
import { parseWhere } from './where.ts'

const { schema } = parseSchema(declared)
if (!schema) throw new Error('a broken schema')

const levels = (count: number): object => (count === 0 ? { priority: 1 } : { not: levels(count - 1) })
const many = (count: number) => Array.from({ length: count }, () => ({ priority: { gt: 1 } }))

const broken: [title: string, where: unknown, ...paths: string[]][] = [
  ['a list', [], ''],
  ['an unknown field', { nothing: 1 }, 'nothing'],
  ['an inherited name', { constructor: 1, toString: { eq: 1 } }, 'constructor', 'toString'],
  ['a prototype', JSON.parse('{"__proto__": 1}'), '__proto__'],
  ['an unknown operator', { priority: { above: 1 } }, 'priority.above'],
  ['no operator', { priority: {} }, 'priority'],
  [
    'values of the wrong type',
    { priority: 'x', title: 1, urgent: 'true', due: 1.5, status: { ne: 1 }, weight: { lt: '2' } },
    'priority',
    'title',
    'urgent',
    'due',
    'status.ne',
    'weight.lt',
  ],
  [
    'columns of the wrong type',
    { id: 1, revision: 'x', createdAt: { gte: 'now' } },
    'id',
    'revision',
    'createdAt.gte',
  ],
  [
    'an order that a type has not',
    { status: { gt: 'a' }, urgent: { lte: true }, other: { startsWith: 'rec' } },
    'status.gt',
    'urgent.lte',
    'other.startsWith',
  ],
  ['order of null', { priority: { gt: null }, title: { contains: null } }, 'priority.gt', 'title.contains'],
  ['in without values', { priority: { in: [] } }, 'priority.in'],
  ['in with too many', { priority: { in: Array(101).fill(1) } }, 'priority.in'],
  ['in with wrong ones', { priority: { in: [1, null, 'x'] } }, 'priority.in.1', 'priority.in.2'],
  ['in that is no list', { priority: { in: 1 } }, 'priority.in'],
  ['exists that is no flag', { priority: { exists: 1 } }, 'priority.exists'],
  ['comparisons of json', { meta: 1, notes: { eq: 'x' } }, 'meta'],
  ['more of json', { meta: { ne: null, in: [1], eq: 2 } }, 'meta.ne', 'meta.in', 'meta.eq'],
  ['and, or and not of the wrong shape', { and: {}, or: 1, not: [] }, 'and', 'or', 'not'],
  [
    'problems deep inside',
    { and: [{ or: [{ title: 1 }, { not: { nope: 1 } }] }] },
    'and.0.or.0.title',
    'and.0.or.1.not.nope',
  ],
  ['too many levels', levels(9), 'not.not.not.not.not.not.not.not.not'],
  ['too many conditions', { or: many(101) }, ''],
  ['too many parts that say nothing', { and: Array.from({ length: 1000 }, () => ({})) }, ''],
]

describe('a filter', () => {
  for (const [title, where, ...paths] of broken)
    it(`is refused with ${title}`, () => {
      const { issues } = parseWhere(schema, where)
      assert.deepEqual(
        issues
          .map(({ path = [] }) => {
            assert.equal(path[0], 'where')
            return path.slice(1).join('.')
          })
          .sort(),
        paths.toSorted(),
      )
    })

  it('may have eight levels and a hundred conditions', () => {
    assert.deepEqual(parseWhere(schema, levels(8)).issues, [])
    assert.deepEqual(parseWhere(schema, { or: many(100) }).issues, [])
    assert.deepEqual(parseWhere(schema, {}).issues, [])
  })

  const indexes = declared.indexes.map((index) => ({ id: index, fields: index.split(','), unique: false }))
  indexes.push({ id: 'slug', fields: ['slug'], unique: true })
  const paths: [where: object, expected: string][] = [
    [{}, 'all'],
    [{ notes: 'x' }, 'all'],
    [{ id: 'rec_1' }, 'ids'],
    [{ status: 'open' }, 'keys status 1'],
    [{ status: 'open', priority: 1 }, 'keys status,priority 1'],
    [{ status: { in: ['open', 'done'] }, priority: { in: [1, 2] } }, 'keys status,priority 4'],
    [{ status: 'open', priority: { gt: 1 } }, 'keys status 1'],
    [{ status: 'open', slug: 'x' }, 'keys slug 1'],
    [{ and: [{ title: 'x' }, { notes: 'y' }] }, 'keys title 1'],
    [{ title: { startsWith: 'x' } }, 'ranges title 1'],
    [{ title: { gt: 'a', lte: 'b' } }, 'ranges title 1'],
    [{ due: 5 }, 'ranges due,urgent 1'],
    [{ due: { gt: 1 } }, 'ranges due,urgent 1'],
    [{ weight: 1, status: 'open', title: { lt: 'x' } }, 'keys status 1'],
    [{ or: [{ status: 'open' }] }, 'all'],
    [{ not: { status: 'open' } }, 'all'],
    [{ status: { ne: 'open' } }, 'all'],
    [{ status: null }, 'keys status 1'],
    [{ urgent: { exists: false } }, 'keys urgent 1'],
    [{ priority: 1 }, 'all'],
  ]
  for (const [where, expected] of paths)
    it(`${JSON.stringify(where)} looks at ${expected}`, () => {
      const path = choosePath(parseWhere(schema, where).filter, indexes)
      const size = path.kind === 'keys' ? path.keys.length : path.kind === 'ranges' ? path.ranges.length : ''
      assert.equal(['indexId' in path ? `${path.kind} ${path.indexId} ${size}` : path.kind].join(), expected)
    })
})
