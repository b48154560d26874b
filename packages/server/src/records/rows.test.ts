import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changedData, type Data, newData } from './rows.ts'
import { parseSchema } from './schema.ts'

const { schema } = parseSchema({
  name: 'task',
  fields: {
    title: { type: 'string', required: true, maxLength: 3 },
    status: {
      type: 'enum',
      values: ['open', 'doing', 'done'],
      default: 'open',
      transitions: { open: ['doing'], doing: ['done'] },
    },
    priority: { type: 'integer', min: 1, max: 5, default: 3 },
    weight: { type: 'number' },
    urgent: { type: 'boolean' },
    due: { type: 'timestamp' },
    meta: { type: 'json' },
    constructor: { type: 'text' },
  },
})
if (!schema) throw new Error('a broken schema')

const deep = (levels: number, inside: unknown = 1): unknown =>
  levels === 0 ? inside : [deep(levels - 1, inside)]
const parsed = (json: string): Data => JSON.parse(json)

const least = { title: 'a', status: 'open', priority: 3 }
const tooDeep = 'meta must be JSON of at most 64 levels'
const tooLarge = 'meta must have no number beyond what can be kept, which is about 1.8e308'

const made: [title: string, given: Data, expected: Data | string[]][] = [
  ['the least', { title: 'a' }, { title: 'a', status: 'open', priority: 3 }],
  [
    'null for what has a default',
    { title: 'a', priority: null, status: null, due: null },
    { title: 'a', status: 'open', priority: 3 },
  ],
  ['three characters of two units each', { title: '𝄞𝄞𝄞' }, { title: '𝄞𝄞𝄞', status: 'open', priority: 3 }],
  [
    'JSON of any kind',
    { title: 'a', meta: { a: [null] } },
    { title: 'a', status: 'open', priority: 3, meta: { a: [null] } },
  ],
  [
    'what is named as something inherited',
    { title: 'a', constructor: 'me' },
    { title: 'a', status: 'open', priority: 3, constructor: 'me' },
  ],
  ['nothing', {}, ['title is required']],
  ['null for what is required', { title: null }, ['title is required']],
  ['four characters', { title: '𝄞𝄞𝄞𝄞' }, ['title must have at most 3 characters']],
  ['half a character', { title: '\ud800' }, ['title must be well-formed Unicode']],
  [
    'wrong types',
    { title: 1, priority: '1', weight: 'x', urgent: 0, due: 1.5, status: 1 },
    [
      'title must be a string',
      'status must be a string',
      'priority must be an integer',
      'weight must be a number',
      'urgent must be true or false',
      'due must be a time in Unix milliseconds, an integer',
    ],
  ],
  [
    'values out of bounds',
    { title: 'a', priority: 6, status: 'new' },
    ['status must be one of open, doing, done', 'priority must be at most 5'],
  ],
  [
    'integers that are none',
    { title: 'a', priority: 2.5, due: 2 ** 53 },
    ['priority must be an integer', 'due must be a time in Unix milliseconds, an integer'],
  ],
  ['JSON of 64 levels', { title: 'a', meta: deep(64) }, { ...least, meta: deep(64) }],
  ['64 levels of nothing', { title: 'a', meta: deep(63, []) }, { ...least, meta: deep(63, []) }],
  ['JSON that is too deep', { title: 'a', meta: deep(65) }, [tooDeep]],
  ['too many levels of nothing', { title: 'a', meta: deep(64, {}) }, [tooDeep]],
  ['a number that JSON could not give back', parsed('{"title":"a","meta":1e400}'), [tooLarge]],
  ['such a number inside', parsed('{"title":"a","meta":{"x":[-1e999]}}'), [tooLarge]],
  [
    'a key inside of JSON that means something to JavaScript',
    parsed('{"title":"a","meta":{"__proto__":{"x":1}}}'),
    { ...least, ...parsed('{"meta":{"__proto__":{"x":1}}}') },
  ],
  [
    'prototypes',
    parsed('{"title":"a","__proto__":{"x":1},"toString":1,"hasOwnProperty":2}'),
    [
      '__proto__ is not a field of this record',
      'toString is not a field of this record',
      'hasOwnProperty is not a field of this record',
    ],
  ],
]

const before = { title: 'a', status: 'open', priority: 3, due: 5 }
const changes: [title: string, given: Data, expected: Data | string[], transitions?: string[]][] = [
  ['one field', { title: 'b' }, { ...before, title: 'b' }],
  ['null', { due: null }, { title: 'a', status: 'open', priority: 3 }],
  ['null for what has a default', { priority: null }, { title: 'a', status: 'open', due: 5 }],
  ['null for what is required', { title: null }, ['title is required']],
  ['the state it is in', { status: 'open' }, before],
  ['a state it may go to', { status: 'doing' }, { ...before, status: 'doing' }, ['status open doing']],
  ['a state it may not go to', { status: 'done' }, ['status must not go from open to done']],
  ['no state at all', { status: null }, ['status must not go from open to null']],
  ['an unknown field', { nothing: 1 }, ['nothing is not a field of this record']],
  ['a prototype', parsed('{"__proto__":null}'), ['__proto__ is not a field of this record']],
]

const told = (issues: { path?: (string | number)[] | undefined; message: string }[]) =>
  issues.map(({ path, message }) => {
    assert.equal(path?.[0], 'data')
    return `${path?.slice(1).join('.')} ${message}`
  })

describe('a new row', () => {
  for (const [title, given, expected] of made)
    it(`${Array.isArray(expected) ? 'is refused' : 'is made'} with ${title}`, () => {
      const { data, issues } = newData(schema, given)
      assert.deepEqual(
        Array.isArray(expected) ? told(issues).sort() : [issues, data],
        Array.isArray(expected) ? expected.toSorted() : [[], expected],
      )
    })
})

describe('a changed row', () => {
  for (const [title, given, expected, moves = []] of changes)
    it(`${Array.isArray(expected) ? 'refuses' : 'takes'} ${title}`, () => {
      const { data, issues, transitions } = changedData(schema, before, given)
      assert.deepEqual(
        Array.isArray(expected) ? told(issues) : [issues, data],
        Array.isArray(expected) ? expected : [[], expected],
      )
      assert.deepEqual(
        transitions.map(({ field, from, to }) => `${field} ${from} ${to}`),
        moves,
      )
    })

  it('may leave a state with no way out unchanged, and nothing else', () => {
    assert.deepEqual(changedData(schema, { title: 'a', status: 'done' }, { status: 'done' }).issues, [])
    assert.equal(changedData(schema, { title: 'a', status: 'done' }, { status: 'open' }).issues.length, 1)
    assert.deepEqual(changedData(schema, { title: 'a' }, { status: 'done' }).transitions, [])
  })
})
