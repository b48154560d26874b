import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'
import { it } from 'node:test'
import { type AnyContractProcedure, isContractProcedure } from '@orpc/contract'
import { contract, ErrorEnvelope, errors } from '@trellis/contract'
import { foundOrg, onEachDatabase, startTestApp, type TestApp } from '@trellis/server/testing'
import * as z from 'zod'

const REQUESTS = 5000
const AT_ONCE = 12

/** What an operation may fail with by its nature, 5xx though it is. */
const ALLOWED_5XX: Record<string, string[]> = {
  // No mutation of an address leads to a repository that can be imported.
  '/repos/import': ['IMPORT_FAILED'],
}

/** What ends things ends others than those the rest is about. */
const spared: Record<string, Record<string, unknown[]>> = {
  '/repos/delete': { name: ['gamma', 'none'] },
  '/repos/update': { name: ['gamma', 'delta', 'none'], newName: ['alpha', 'delta', 'gamma'] },
  '/orgs/update': { orgSlug: ['fresh', 'nowhere'], slug: ['arena', 'fresh'] },
  '/orgs/delete': { orgSlug: ['fresh', 'nowhere'] },
}

onEachDatabase('hostile bodies', (create) => {
  it(`${REQUESTS} of them over all operations get no 5xx and no answer outside the envelope`, async (t) => {
    const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31))
    t.diagnostic(`TEST_SEED=${seed}`)
    await using database = await create()
    await using app = await startTestApp(database, {
      TRELLIS_RATE_PER_SECOND: '1000000',
      TRELLIS_RATE_BURST: '1000000',
      TRELLIS_MAX_BODY_BYTES: '200000',
    })
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
    t.after(() => agent.destroy())
    const world = await settle(app)
    const random = createRandom(seed)
    const paths = [...operations.keys()]
    const statuses = new Map<number, number>()
    let sent = 0

    const worker = async () => {
      while (sent < REQUESTS) {
        const number = sent++
        const path = paths[number % paths.length] ?? ''
        const body = hostileBody(random, inputs.get(path) ?? {}, { ...world.words, ...spared[path] })
        const headers = hostileHeaders(random, random.pick(world.callers))
        const answer = await post(agent, `${app.url}/api/v1${path}`, body, headers)
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        const told = () =>
          `#${number} ${path} ${JSON.stringify(headers)} ${body?.toString().slice(0, 2000)}\n→ ${answer.status} ${answer.text.slice(0, 2000)}`
        expectProper(path, answer, told)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    t.diagnostic(`answers: ${JSON.stringify(Object.fromEntries([...statuses].toSorted()))}`)

    assert.equal((await fetch(`${app.url}/readyz`)).status, 200)
    // Hostile or not, some of it was good: otherwise nothing behind the schemas was reached.
    for (const status of [200, 400, 401, 403, 404, 409]) assert.ok(statuses.has(status), `no ${status}`)
    assert.match(await (await fetch(`${app.url}/metrics`)).text(), /^trellis_http_requests_in_flight 1$/m)
  })
})

interface RawAnswer {
  status: number
  type: string
  text: string
}

function expectProper(path: string, { status, type, text }: RawAnswer, told: () => string): void {
  assert.match(type, /^application\/json/, told())
  const body = JSON.parse(text)
  if (status === 200) return
  const envelope = ErrorEnvelope.strict().safeParse(body)
  assert.ok(envelope.success, told())
  const { defined, code, data } = envelope.data
  assert.equal(envelope.data.status, status, told())
  if (defined) {
    const declared = operations.get(path)?.['~orpc'].errorMap[code]
    assert.ok(declared, `${code} is not declared: ${told()}`)
    assert.equal(declared.status, status, told())
    assert.ok(errors[code as keyof typeof errors].data.safeParse(data).success, told())
  } else assert.ok(['NOT_FOUND'].includes(code), told())
  assert.ok(status < 500 || ALLOWED_5XX[path]?.includes(code), told())
}

function post(agent: Agent, url: string, body: Buffer | undefined, headers: Record<string, string>) {
  return new Promise<RawAnswer>((resolve, reject) => {
    const call = request(url, { agent, method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    call.on('error', reject)
    call.end(body)
  })
}

// The operations, and what each asks for.

const operations = new Map<string, AnyContractProcedure>(walk(contract, ''))

function walk(node: unknown, path: string): [string, AnyContractProcedure][] {
  if (isContractProcedure(node)) return [[path, node]]
  return Object.entries(node as object).flatMap(([key, child]) => walk(child, `${path}/${key}`))
}

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema, read by hand below.
type JsonSchema = any

const inputs = new Map<string, JsonSchema>(
  [...operations].map(([path, procedure]) => [
    path,
    z.toJSONSchema(procedure['~orpc'].inputSchema as z.ZodType, { io: 'input', unrepresentable: 'any' }),
  ]),
)

// Who calls, and the words that mean something here.

interface World {
  callers: Record<string, string>[]
  words: Record<string, unknown[]>
}

/** Makes people, organizations and repositories to be hostile to. Callers are never among the victims. */
async function settle(app: TestApp): Promise<World> {
  const owner = app.client(app.ownerKey)
  const org = await foundOrg(app, 'arena')
  const victim = await app.signUp('victim')
  const arena = app.client(org.owner.token, 'arena')
  for (const name of ['alpha', 'beta']) {
    await owner.repos.create({ name })
    await arena.repos.create({ name })
  }
  const { oid } = await owner.git.commits.create({
    name: 'alpha',
    branch: 'main',
    message: 'First',
    changes: [{ op: 'put', path: 'README.md', content: 'Hello' }],
  })
  const [read, write, spare] = await Promise.all([
    owner.tokens.create({ name: 'alpha' }),
    owner.tokens.create({ name: 'alpha', scope: 'write' }),
    owner.tokens.create({ name: 'beta' }),
  ])
  const victimKey = await owner.keys.create({ name: 'victim' })
  const revoked = await owner.keys.create({ name: 'revoked' })
  await owner.keys.revoke({ id: revoked.id })
  const narrow = await owner.keys.create({ name: 'narrow', scopes: ['repo:read'] })
  const invitation = await arena.members.invite({ orgSlug: 'arena', email: victim.email })
  const bearer = (token: string | undefined, more: Record<string, string> = {}) => ({
    authorization: `Bearer ${token}`,
    ...more,
  })
  return {
    callers: [
      {},
      bearer(app.ownerKey),
      bearer(app.ownerKey),
      bearer(app.ownerKey),
      bearer(narrow.secret),
      bearer(revoked.secret),
      bearer(read.secret),
      bearer(write.secret),
      bearer(org.owner.token),
      bearer(org.owner.token, { 'trellis-org': 'arena' }),
      bearer(org.admin.token, { 'trellis-org': 'arena' }),
      bearer(org.member.token, { 'trellis-org': 'arena' }),
      bearer(victim.token, { 'trellis-org': 'arena' }),
    ],
    words: {
      name: ['alpha', 'beta', 'gamma', 'delta', 'none'],
      newName: ['beta', 'gamma', 'epsilon'],
      slug: ['arena', 'victim', 'fresh', 'owner'],
      orgSlug: ['arena', 'victim', 'owner', 'nowhere'],
      userId: [victim.userId, 'usr_none'],
      id: [victimKey.id, spare.id, invitation.id, 'key_none'],
      invitationId: [invitation.id, 'inv_none'],
      token: [spare.secret, victimKey.secret, 'trt_none'],
      email: [victim.email, 'new@example.com'],
      branch: ['main', 'topic'],
      defaultBranch: ['main', 'topic', 'a..b', '-x', 'refs/heads/x'],
      ref: ['main', 'HEAD', 'refs/heads/main', '0'.repeat(40), '--upload-pack=x', '@{-1}'],
      oid: [oid, '0'.repeat(40), 'f'.repeat(40), 'HEAD', '-x'],
      path: ['README.md', '../x', '/etc/passwd', '.git/config', 'a//b'],
      content: ['text', 'AAAA'],
      // Nobody listens there, and nothing may be reached there.
      url: [
        'http://127.0.0.1:1/x.git',
        'file:///etc',
        'ext::sh -c x',
        'http://[::1]:1/',
        'http://169.254.169.254/',
      ],
    },
  }
}

// Randomness that can be repeated.

type Random = ReturnType<typeof createRandom>

function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    below,
    chance: (probability: number) => next() < probability,
    pick: <T>(values: readonly T[]): T => values[below(values.length)] as T,
  }
}

/** A value that its schema allows, as far as can be told, with words that mean something where there are some. */
function plausible(random: Random, schema: JsonSchema, words: Record<string, unknown[]>, name = ''): unknown {
  const known = words[name]
  if (known && schema.type === 'string' && !schema.enum && random.chance(0.9)) return random.pick(known)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return random.pick(schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return plausible(random, random.pick(choices), words, name)
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type
  switch (type) {
    case 'object': {
      const entries = Object.entries<JsonSchema>(schema.properties ?? {})
        .filter(([key]) => schema.required?.includes(key) || random.chance(0.3))
        .map(([key, property]) => [key, plausible(random, property, words, key)])
      return Object.fromEntries(entries)
    }
    case 'array': {
      const length = Math.max(schema.minItems ?? 0, random.below(3))
      return Array.from({ length }, () => plausible(random, schema.items ?? {}, words))
    }
    case 'integer':
    case 'number': {
      const min = Math.max(schema.minimum ?? 0, 0)
      return min + random.below(Math.min((schema.maximum ?? 100) - min, 100) + 1)
    }
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    case 'string':
      if (schema.format === 'uuid') return '0190b5a4-7d3c-7000-8000-000000000000'
      if (schema.format === 'email') return 'somebody@example.com'
      return 'x'.repeat(Math.max(schema.minLength ?? 1, 1 + random.below(8)))
    default:
      return {}
  }
}

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)

const hostileValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  5e-324,
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'a\udfff',
  '\u202e\u200b\ufeff',
  '💥'.repeat(40),
  'é',
  '\r\nX: y',
  '../../etc/passwd',
  "'; drop table repos; --",
  '" or 1=1',
  '%00%0a',
  '$'.concat('{7*7}{{7*7}}'),
  '<script>alert(1)</script>',
  '-rf',
  '--help',
  'a'.repeat(65),
  'a'.repeat(100_000),
  'NaN',
  '9007199254740993',
  [],
  [null],
  [[[[]]]],
  Array(2000).fill('x'),
  {},
  { length: 1e9 },
  { toString: 1, valueOf: 2, ['th'.concat('en')]: 3 },
  Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i])),
  { $gt: '' },
]

/** A copy: it may be changed further. */
const hostileValue = (random: Random): unknown => structuredClone(random.pick(hostileValues))

const strangeKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  '\0',
  'a'.repeat(5000),
]

/** One body in many is left as it is, so that what lies behind the schemas is met as well. */
function hostileBody(
  random: Random,
  schema: JsonSchema,
  words: Record<string, unknown[]>,
): Buffer | undefined {
  const value = plausible(random, schema, words)
  if (random.chance(0.3)) return Buffer.from(JSON.stringify(value))
  if (random.chance(0.15)) return hostileText(random, JSON.stringify(value))
  if (random.chance(0.1)) return Buffer.from(JSON.stringify(random.pick(hostileValues)))
  const body = value as Record<string, unknown>
  for (let changes = 1 + random.below(3); changes > 0; changes--) mutate(random, body, schema)
  let text = JSON.stringify(body)
  // As text: in an object literal it would be the prototype, not a key.
  if (random.chance(0.2)) {
    const extra = `${JSON.stringify(random.pick(strangeKeys))}:${JSON.stringify(random.pick(hostileValues))}`
    text = text === '{}' ? `{${extra}}` : `{${extra},${text.slice(1)}`
  }
  return Buffer.from(text)
}

function mutate(random: Random, body: Record<string, unknown>, schema: JsonSchema): void {
  const keys = Object.keys(schema.properties ?? {})
  if (keys.length === 0) return
  const key = random.pick(keys)
  const inner = body[key]
  if (random.chance(0.15)) delete body[key]
  else if (inner && typeof inner === 'object' && !Array.isArray(inner) && random.chance(0.5))
    mutate(random, inner as Record<string, unknown>, schema.properties[key])
  else if (Array.isArray(inner) && inner.length > 0 && random.chance(0.5))
    inner[random.below(inner.length)] = hostileValue(random)
  else body[key] = hostileValue(random)
}

function hostileText(random: Random, valid: string): Buffer | undefined {
  const at = random.below(valid.length)
  switch (random.below(14)) {
    case 0:
      return undefined
    case 1:
      return Buffer.alloc(0)
    case 2:
      return Buffer.from(valid.slice(0, at))
    case 3:
      return Buffer.from(valid + valid)
    case 4:
      return Buffer.concat([
        Buffer.from(valid.slice(0, at)),
        Buffer.from([0xff, 0xc0, 0x80]),
        Buffer.from(valid.slice(at)),
      ])
    case 5:
      return Buffer.from(`\ufeff${valid}`)
    case 6:
      return Buffer.from(nested(50_000, '[', ']'))
    case 7:
      return Buffer.from(`{"name":${nested(20_000, '{"a":', '}').replace('}', '1}')}}`)
    case 8:
      return Buffer.from(`{"name":"alpha","name":"beta","limit":1,"limit":"x",${valid.slice(1)}`)
    case 9:
      return Buffer.from(`{"limit":1e999,"name":-1e999,"since":123456789012345678901234567890}`)
    case 10:
      return Buffer.from(`{"name":"\\ud800\\udc00\\ud800","tag":"\\u0000","cursor":"\\udfff"}`)
    case 11:
      return Buffer.from(
        random.pick(['NaN', 'undefined', "{'a':1}", '{a:1}', '[1,]', '//', '{"a":tru', '\0\0\0', '"']),
      )
    case 12:
      return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)))
    default:
      // Over the limit of this server.
      return Buffer.from(JSON.stringify({ name: 'x'.repeat(250_000) }))
  }
}

function hostileHeaders(random: Random, caller: Record<string, string>): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...caller }
  if (random.chance(0.03))
    headers['content-type'] = random.pick(['text/plain', 'application/json; charset=latin1', ';'])
  if (random.chance(0.03))
    headers['trellis-org'] = random.pick(['', 'ÿ', '../x', 'a'.repeat(2000), "'", '__proto__'])
  if (random.chance(0.03))
    headers.authorization = random.pick(['', 'Bearer', 'Bearer %zz', 'Bearer ÿ', 'Basic x', 'x y z'])
  if (random.chance(0.03))
    headers.cookie = random.pick(['trellis.session_token=%zz', 'trellis.session_token=a.b', '=;='])
  return headers
}
