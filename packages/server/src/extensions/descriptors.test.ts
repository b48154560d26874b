import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hashOfJson, sha256 } from '../platform/hashes.ts'
import { parseExtension, parseWebhook } from './descriptors.ts'

const FILE = 'extensions/triage/extension.json'
const base = { version: 1, name: 'triage' }

function problemsIn(json: unknown): string[] {
  const text = typeof json === 'string' ? json : JSON.stringify(json)
  const { problems = [] } = parseExtension(FILE, 'triage', Buffer.from(text))
  return problems.map(({ path, message }) => `${path.replace(FILE, '')} ${message}`)
}

const pathsIn = (json: unknown) => problemsIn(json).map((problem) => problem.split(' ')[0])

describe('extension.json', () => {
  it('needs a version and a name, and takes everything there is', () => {
    assert.deepEqual(problemsIn(base), [])
    assert.deepEqual(
      problemsIn({
        ...base,
        version: { any: ['json'] },
        description: 'Sorts new tasks',
        runtime: 'workflow',
        module: 'src/main.tsx',
        dispatch: true,
        capabilities: ['repo:read', 'net:api.example.com', 'net:*.example.org', 'secret:API_TOKEN'],
        inputSchema: { type: 'object', properties: { title: { type: 'string', pattern: '^[a-z]+$' } } },
        outputSchema: {
          $defs: { tree: { properties: { left: { $ref: '#/$defs/tree' } } } },
          $ref: '#/$defs/tree',
        },
        record: {
          name: 'task',
          fields: {
            title: { type: 'string', required: true, maxLength: 200 },
            status: {
              type: 'enum',
              values: ['open', 'done'],
              default: 'open',
              transitions: { open: ['done'], done: [] },
            },
            due: { type: 'timestamp' },
            extra: { type: 'json', default: { a: 1 } },
            parent: { type: 'ref', record: 'task' },
          },
          indexes: ['status', 'status,due'],
          hooks: { onCreate: true },
          drop: ['gone'],
        },
        on: {
          push: { branches: ['main'] },
          event: { types: ['task.escalated'], subject: 'task/*', from: 'agent' },
        },
        daemon: { scheduleIntervalMinutes: 15, onEventTypes: ['record.created'] },
      }),
      [],
    )
  })

  it('tells every problem at its place', () => {
    assert.deepEqual(
      pathsIn({ name: 'other', verison: 1, on: { pull: {} }, daemon: { scheduleIntervalMinutes: 4 } }),
      ['#/version', '#/on/pull', '#/daemon/scheduleIntervalMinutes', '#/verison', '#/name'],
    )
    assert.deepEqual(pathsIn({ ...base, name: 'other' }), ['#/name'])
    assert.deepEqual(pathsIn({ ...base, capabilities: ['repo:read', 'repo:own', 'repo:read'] }), [
      '#/capabilities/1',
    ])
    assert.deepEqual(pathsIn({ ...base, capabilities: ['repo:read', 'repo:read'] }), ['#/capabilities/1'])
    assert.deepEqual(pathsIn({ ...base, 'a/b~c': 1 }), ['#/a~1b~0c'])
    for (const module of ['../other/index.ts', '/index.ts', 'index.css', './index.ts', 'a//b.ts'])
      assert.deepEqual(pathsIn({ ...base, module }), ['#/module'], module)
  })

  it('looks at records as closely', () => {
    const record = (fields: object, more: object = {}) => ({
      ...base,
      record: { name: 'task', fields, ...more },
    })
    assert.deepEqual(pathsIn(record({ a: { type: 'strnig' } })), ['#/record/fields/a/type'])
    assert.deepEqual(pathsIn(record({ a: { type: 'string', uniqe: true } })), ['#/record/fields/a/uniqe'])
    assert.deepEqual(pathsIn(record({ a: { type: 'enum', values: ['x'], default: 'y' } })), [
      '#/record/fields/a/default',
    ])
    assert.deepEqual(
      pathsIn(record({ a: { type: 'enum', values: ['x'], transitions: { z: ['x'], x: ['q'] } } })),
      ['#/record/fields/a/transitions/z', '#/record/fields/a/transitions/x/0'],
    )
    assert.deepEqual(pathsIn(record({ a: { type: 'integer', min: 3, max: 1 } })), ['#/record/fields/a/max'])
    assert.deepEqual(pathsIn(record({ a: { type: 'integer' } }, { indexes: ['a', 'b', 'a,toString'] })), [
      '#/record/indexes/1',
      '#/record/indexes/2',
    ])
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, { type: 'string' }]))
    assert.deepEqual(pathsIn(record(many)), ['#/record/fields'])
    assert.deepEqual(pathsIn(record({ constructor: { type: 'string' } })), ['#/record/fields/constructor'])
  })

  it('knows no keys that mean something to JavaScript', () => {
    assert.deepEqual(pathsIn('{"version":1,"name":"triage","__proto__":{"dispatch":true}}'), ['#/__proto__'])
    assert.deepEqual(
      pathsIn('{"version":1,"name":"triage","record":{"name":"t","fields":{"__proto__":{"type":"string"}}}}'),
      ['#/record/fields/__proto__'],
    )
    for (const key of ['constructor', 'toString', 'hasOwnProperty'])
      assert.deepEqual(pathsIn({ ...base, [key]: 1 }), [`#/${key}`])
  })

  it('says what is wrong in plain words', () => {
    const told = (more: object) => problemsIn({ ...base, ...more })
    assert.deepEqual(told({ inputSchema: [], dispatch: 'yes', runtime: 'x', on: { event: { types: [] } } }), [
      '#/runtime Must be one of worker, sandbox, workflow',
      '#/dispatch Must be true or false',
      '#/inputSchema Must be an object',
      '#/on/event/types Must have at least 1 item',
    ])
    const record = {
      name: 'a',
      fields: { a: { type: 'x' }, b: { type: 'enum' }, c: { type: 'integer', default: 1.5 } },
    }
    assert.deepEqual(told({ record }), [
      '#/record/fields/a/type Must be one of string, text, integer, number, timestamp, boolean, json, enum, ref',
      '#/record/fields/b/values Required',
      '#/record/fields/c/default Must be an integer',
    ])
    assert.deepEqual(told({ daemon: { scheduleIntervalMinutes: 1 } }), [
      '#/daemon/scheduleIntervalMinutes Must be at least 5',
    ])
  })

  it('has no numbers that could not be given back', () => {
    assert.deepEqual(pathsIn('{"version":1e999,"name":"triage"}'), ['#/version'])
    assert.deepEqual(pathsIn('{"version":{"at":[1,-1e400]},"name":"triage"}'), ['#/version/at/1'])
  })

  it('survives what is not JSON, too deep, or wrong in too many places', () => {
    assert.match(problemsIn('{')[0] ?? '', /^ This is not JSON/)
    assert.match(
      parseExtension(FILE, 'triage', Buffer.from([0xff, 0xfe])).problems?.[0]?.message ?? '',
      /not UTF-8/,
    )
    assert.match(problemsIn('['.repeat(30_000) + ']'.repeat(30_000))[0] ?? '', /nested/)
    for (const json of ['null', '[]', '3', '"x"']) assert.equal(problemsIn(json).length, 1, json)
    const wrong = problemsIn({
      ...base,
      ...Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`k${i}`, 1])),
    })
    assert.deepEqual([wrong.length, wrong.at(-1)], [51, ' and 850 more problems'])
  })
})

describe('the schemas in an extension.json', () => {
  const at = (inputSchema: unknown) => pathsIn({ ...base, inputSchema })

  it('must be JSON Schemas that refer to nothing outside', () => {
    assert.deepEqual(at({ properties: { a: { type: 'strnig' } } }).slice(0, 1), [
      '#/inputSchema/properties/a/type',
    ])
    assert.deepEqual(at({ $ref: 'https://example.com/schema' }), ['#/inputSchema/$ref'])
    assert.deepEqual(at({ items: { $ref: '#/$defs/none' } }), ['#/inputSchema/items/$ref'])
    assert.deepEqual(at({ $schema: 'http://json-schema.org/draft-04/schema#' }), ['#/inputSchema/$schema'])
    assert.deepEqual(at({ $schema: 'http://json-schema.org/draft-07/schema#', items: [{}, {}] }), [])
    assert.deepEqual(at({ $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{}] }), [])
  })

  it('must not take longer than what they are held against', () => {
    assert.deepEqual(at({ pattern: '(a+)+$' }), [], 'linear for the engine that is used')
    assert.deepEqual(at({ pattern: '(a)\\1' }), ['#/inputSchema/pattern'])
    assert.deepEqual(at({ pattern: '(' }), ['#/inputSchema/pattern'])
    const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
    assert.deepEqual(at({ allOf: Array.from({ length: 100 }, () => ({ pattern: uuid })) }), [])
    const large = `(${'a'.repeat(90)}){1000}`
    assert.deepEqual(at({ pattern: large }), ['#/inputSchema'])
    assert.deepEqual(at({ pattern: '((a{1000}){1000}){1000}' }), ['#/inputSchema'])
    const classes = Array.from({ length: 600 }, (_, i) => ({ pattern: `\\p{L}${i}` }))
    assert.deepEqual(at({ allOf: classes }), ['#/inputSchema'])
    assert.deepEqual(at({ allOf: classes.slice(0, 100) }), [])
    assert.deepEqual(at({ anyOf: Array.from({ length: 2000 }, () => ({})) }), ['#/inputSchema'])
    assert.deepEqual(at({ patternProperties: { '(?=x)': {} } }), ['#/inputSchema/patternProperties/(?=x)'])
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    )
    assert.equal(at({ $defs: { ...doubling, d40: {} }, $ref: '#/$defs/d0' }).length, 1)
    assert.equal(at({ $ref: '#' }).length, 1)
    assert.equal(at({ allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { anyOf: [{ $ref: '#' }] } } }).length, 1)
    assert.deepEqual(at({ properties: { next: { $ref: '#' } } }), [])
    const chain = Object.fromEntries(
      Array.from({ length: 1500 }, (_, i) => [`c${i}`, { $ref: `#/$defs/c${i + 1}` }]),
    )
    assert.deepEqual(at({ $defs: { ...chain, c1500: {} } }), [])
  })
})

describe('webhook.json', () => {
  const paths = (json: unknown) =>
    (parseWebhook('w', Buffer.from(JSON.stringify(json))).problems ?? []).map(({ path }) => path)

  it('needs a URL, and knows as few keys', () => {
    assert.deepEqual(
      paths({ url: 'https://example.com/', on: { event: { types: ['git.*'] } }, payload: 'p.ts' }),
      [],
    )
    assert.deepEqual(paths({ url: 'ftp://example.com/', secret: 'x' }), ['w#/url', 'w#/secret'])
    assert.deepEqual(paths({ url: 'https://example.com/', payload: '../p.ts' }), ['w#/payload'])
  })

  it('has a URL that anybody may read, wherever it leads', () => {
    const at = (url: string) => paths({ url })
    for (const url of [
      'https://u:p@example.com/',
      'https://u@example.com/',
      'ssh://example.com/',
      '/here',
      '',
    ])
      assert.deepEqual(at(url), ['w#/url'], url)
    // Which hosts may be reached is for the server to say that promotes it.
    for (const url of ['http://127.0.0.1:1/', 'http://localhost/', 'https://nowhere.invalid/#part'])
      assert.deepEqual(at(url), [], url)
  })

  it('says that its bodies are JSON, unless a module makes them', () => {
    const at = (contentType: string, more: object = {}) =>
      paths({ url: 'https://example.com/', contentType, ...more })
    for (const type of [
      'application/json',
      'application/cloudevents+json',
      'application/json; charset=utf-8',
    ])
      assert.deepEqual(at(type), [], type)
    for (const type of ['text/plain', 'application/xml', 'application/json\r\nx: y'])
      assert.deepEqual(at(type), ['w#/contentType'], type)
    assert.deepEqual(at('text/plain; charset=utf-8', { payload: 'p.ts' }), [])
    assert.deepEqual(at('text/plain\r\nx: y', { payload: 'p.ts' }), ['w#/contentType'])
  })

  it('tells all that is wrong at its place', () => {
    assert.deepEqual(
      paths({ url: 7, on: { event: { types: ['['] }, pull: {} }, contentType: 'x', payload: 'p.css', to: 1 }),
      ['w#/url', 'w#/on/pull', 'w#/contentType', 'w#/payload', 'w#/to'],
    )
    assert.deepEqual(paths({ url: 'https://example.com/', on: { event: { types: ['x'.repeat(300)] } } }), [
      'w#/on/event/types/0',
    ])
  })
})

describe('hashes of JSON', () => {
  it('do not depend on spaces or the order of keys', () => {
    const inOneForm = '{"a":{"c":true,"d":1e+21},"b":[1,"ä",null]}'
    assert.equal(hashOfJson({ b: [1, 'ä', null], a: { d: 1e21, c: true } }), sha256(inOneForm))
    assert.equal(hashOfJson({ a: 1, b: 2 }), hashOfJson({ b: 2, a: 1 }))
    assert.match(hashOfJson({}), /^sha256:[0-9a-f]{64}$/)
  })
})
