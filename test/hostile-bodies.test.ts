import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'
import { it } from 'node:test'
import { type AnyContractProcedure, isContractProcedure } from '@orpc/contract'
import { contract, ErrorEnvelope, errors } from '@trellis/contract'
import { foundOrg, onEachDatabase, startTestApp, type TestApp } from '@trellis/server/testing'
import * as z from 'zod'
import { createRandom, hostileBody, hostileHeaders, type JsonSchema } from './hostile-body.ts'

/** Another few every time. Set HOSTILE_REQUESTS to try more. */
const REQUESTS = Number(process.env.HOSTILE_REQUESTS ?? 1200)
const AT_ONCE = 12

/** What an operation may fail with by its nature, 5xx though it is. */
const ALLOWED_5XX: Record<string, string[]> = {
  // No mutation of an address leads to a repository that can be imported.
  '/repos/import': ['IMPORT_FAILED'],
}

/** Codes of answers that no operation declares. */
const UNDECLARED = ['NOT_FOUND', 'WEBHOOK_NOT_FOUND', 'MEMBER_NOT_FOUND']

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
    // Hostile or not, some of it was good: otherwise nothing behind the schemas was reached. Each of these comes dozens of
    // times; a 409 comes thrice, and so not always.
    for (const status of [200, 400, 401, 403, 404]) assert.ok(statuses.has(status), `no ${status}`)
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
  } else assert.ok(UNDECLARED.includes(code), told())
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
