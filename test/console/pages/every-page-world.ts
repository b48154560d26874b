// A server on which every page has something to show: names that are long, things that failed, things that wait.

import assert from 'node:assert/strict'
import type { TrellisClient } from '@trellis/contract/client'
import {
  answerWith,
  createVisitor,
  filesOf,
  join,
  type Person,
  type Receiver,
  type RunsWorld,
  registerAgent,
  type TestApp,
} from '@trellis/server/testing'
import { until } from '../../git/harness.ts'

export const ORG = 'acme'
export const REPO = 'widgets'
export const LONG_REPO = 'a-repository-whose-name-is-as-long-as-some-become-now-and-then'
export const LONG_BRANCH = 'agents/a-branch-whose-name-tells-everything-that-it-is-about-in-one-breath'
export const TOPIC = 'agents/topic'
export const RIVAL = 'agents/rival'
const LONG_WORD = 'withoutanyplacewherealinecouldbebrokensothatithastobescrolled'
const PASSWORD = 'correct horse battery'

const README = `# Widgets

Small things, **well made**: [how to begin](docs/guide.md), \`npm start\`, ![a logo](img/logo.png)

| left | right |
| :--- | ----: |
| ${LONG_WORD} | 1 |

- [x] made
- [ ] sold

> Somebody said so.

\`\`\`ts
const answer: number = 42 // ${LONG_WORD} ${LONG_WORD}
\`\`\`
`
const CODE = Array.from({ length: 12 }, (_, i) => `export const value${i + 1} = 'text ${i + 1}' // ${i}`)
const LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGPQqAjAihiGlgQAaCE8AVBq/cYAAAAASUVORK5CYII='
const OTHER_LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAICAIAAAB/FOjAAAAAE0lEQVR4nGM4EaBBEmIY1UALDQDYrqAB6mhJqwAAAABJRU5ErkJggg=='

const task = (more: object = {}) => ({
  capabilities: ['repo:read', 'records:write', 'events:emit'],
  record: {
    name: 'task',
    fields: {
      title: { type: 'string', required: true, maxLength: 120 },
      status: { type: 'enum', values: ['open', 'doing', 'done'], default: 'open' },
      priority: { type: 'integer', min: 1, max: 5, default: 3 },
      due: { type: 'timestamp' },
      parent: { type: 'ref', record: 'task' },
      meta: { type: 'json' },
      ...more,
    },
    indexes: ['status,priority'],
  },
})
const EXTENSIONS = {
  tasks: {
    declares: task(),
    does: `await ctx.records.create('task', { title: 'From a run' }); await ctx.events.emit('task.escalated', { subject: 'task/7', payload: { why: 'late' } })`,
  },
  triage: {
    declares: { dispatch: true, on: { event: { types: ['task.escalated'] } } },
    does: `return { subject: input.subject }`,
  },
  greet: {
    declares: {
      description: 'Says what it is told, to whoever it is told to, as often as it is told to',
      capabilities: ['repo:read', 'secret:API_TOKEN', 'net:api.example.com'],
      inputSchema: {
        type: 'object',
        required: ['title'],
        properties: {
          title: { type: 'string', description: 'What to say', minLength: 3 },
          count: { type: 'integer', minimum: 1, maximum: 5, default: 2 },
          mood: { enum: ['glad', 'grave'], default: 'glad' },
          loud: { type: 'boolean', default: false },
          tags: { type: 'array', items: { type: 'string' } },
          more: {},
        },
      },
    },
    does: `for (let line = 0; line < 10; line++) ctx.log('line ' + line + ' ${LONG_WORD}', { mood: input.mood }); return { said: [input.title], ...input }`,
  },
  breaks: { does: `throw new TypeError('no title ${LONG_WORD}')` },
  flow: {
    declares: { runtime: 'workflow' },
    does: `
      await ctx.step.begin({ index: 0, name: 'prepare', kind: 'do', options: {} })
      await ctx.step.end({ index: 0, name: 'prepare', attempt: 1, result: true })
      const flaky = { index: 1, name: 'flaky' }
      await ctx.step.begin({ ...flaky, kind: 'do', options: { retries: 0 } })
      await ctx.step.end({ ...flaky, attempt: 1, error: { name: 'Error', message: 'not today' } })
      await ctx.step.begin({ index: 2, name: 'approval', kind: 'waitForEvent', event: { type: 'flow.approved', subject: 'flow/*' } })`,
  },
  tired: {
    declares: { dispatch: false, daemon: { scheduleIntervalMinutes: 60, onEventTypes: ['note.read'] } },
    does: `throw new Error('the coffee is out')`,
  },
  nightly: { declares: { daemon: { scheduleIntervalMinutes: 1440 } }, does: '' },
} satisfies Parameters<RunsWorld['repo']>[1]

export interface FullWorld {
  owner: Person
  /** A commit with files of every kind. */
  commit: string
  runs: { succeeded: string; failed: string; workflow: string; caused: string }
  row: string
  deliveries: { delivered: string; failed: string }
  /** Of the last push. */
  event: string
}

export async function populate(app: TestApp, receiver: Receiver): Promise<FullWorld> {
  const owner = await ownTheServer(app)
  const [grace, linus] = [await app.signUp('grace'), await app.signUp('linus')]
  const own = app.client(owner.token)
  await own.orgs.create({ slug: ORG, name: 'Acme' })
  await own.orgs.create({ slug: 'lab', name: 'The lab' })
  await join(app, { slug: ORG, owner }, grace, 'admin')
  await join(app, { slug: ORG, owner }, linus, 'member')
  await own.members.invite({ orgSlug: ORG, email: `${LONG_WORD}@example.com` })
  await app.client(grace.token).members.invite({ orgSlug: grace.slug, email: owner.email })
  const api = app.client(owner.token, ORG)
  for (const name of [REPO, LONG_REPO, 'empty']) await api.repos.create({ name })
  await api.repos.update({ name: LONG_REPO, readOnly: true })
  const commit = await writeHistory(api)
  await api.extensions.promote({ name: REPO })
  await grantAccess(app, owner, api)
  const row = await fillRecords(api)
  const deliveries = await deliver(api, receiver)
  const runs = await run(api)
  const { items } = await api.events.list({ name: REPO, types: ['git.push'], limit: 1 })
  return { owner, commit, runs, row, deliveries, event: items[0]?.id ?? assert.fail() }
}

/** As who has the link of the first start, so that the page about the server is to be seen, too. */
async function ownTheServer(app: TestApp): Promise<Person> {
  const email = 'ana@example.com'
  const visitor = createVisitor(app)
  const { pathname } = new URL(app.ownerLink ?? '')
  const done = await visitor.post(await visitor.get(pathname), pathname, { email, password: PASSWORD })
  assert.equal(done.status, 303, done.text)
  const answer = await fetch(`${app.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  const { token, user } = (await answer.json()) as { token: string; user: { id: string } }
  return { token, userId: user.id, email, slug: 'owner' }
}

/** Gives the commit that has a change of every kind. */
async function writeHistory(api: TrellisClient): Promise<string> {
  const put = (path: string, content: string) => ({ op: 'put' as const, path, content })
  const picture = (content: string) => ({ ...put('img/logo.png', content), encoding: 'base64' as const })
  type Changes = Parameters<typeof api.git.commits.create>[0]['changes']
  const commit = async (branch: string, message: string, changes: Changes, parent?: string) =>
    (
      await api.git.commits.create({
        ...{ name: REPO, branch, message, changes },
        ...(parent && { parent }),
      })
    ).oid
  const code = (line: string) => put('src/code.ts', `${CODE.with(5, line).join('\n')}\n`)
  const extensions = Object.entries(filesOf(EXTENSIONS)).map(([path, content]) => put(path, content))
  const first = await commit('main', 'Begin', [
    put('README.md', README),
    put('docs/guide.md', '# Guide\n\nHere.\n'),
    put(`docs/${LONG_WORD}/${LONG_WORD}.md`, '# Long\n'),
    put('src/gone.ts', 'export {}\n'),
    { ...put('src/data.bin', 'AAECAwAA/w=='), encoding: 'base64' },
    code(CODE[5] ?? ''),
    picture(LOGO),
    ...extensions,
  ])
  await commit('main', `Say what a widget is, ${LONG_WORD}\n\nWith a message that goes on.`, [
    put('docs/guide.md', '# Guide\n\nHere it is.\n'),
  ])
  const topic = await commit(
    TOPIC,
    'Change something of everything\n\nIt was wrong since the beginning.',
    [
      code(`export const renamed6 = 7 // ${LONG_WORD}`),
      { op: 'move', from: 'docs/guide.md', to: 'docs/guides.md' },
      { op: 'delete', path: 'src/gone.ts' },
      put('empty.txt', ''),
      picture(OTHER_LOGO),
      put(
        'extensions/tasks/extension.json',
        JSON.stringify({
          ...{ version: 1, name: 'tasks', dispatch: true },
          ...task({ estimate: { type: 'integer', default: 1 } }),
          capabilities: ['records:write', 'net:calendar.example.com'],
          daemon: { scheduleIntervalMinutes: 60 },
        }),
      ),
    ],
    'main',
  )
  await commit(RIVAL, 'Change the same line', [code('export const rival = 6')], first)
  await commit(
    'blocked',
    'Ask for what rows do not have',
    [
      put(
        'extensions/tasks/extension.json',
        JSON.stringify({ version: 1, name: 'tasks', ...task({ owner: { type: 'string', required: true } }) }),
      ),
      put('extensions/greet/extension.json', '{"version": 1, "name": "great"}'),
    ],
    'main',
  )
  await api.git.branches.create({ name: REPO, branch: LONG_BRANCH, from: first })
  await api.git.tags.create({ name: REPO, tag: 'v1.0', oid: topic, message: 'The first release' })
  await api.git.tags.create({ name: REPO, tag: 'light', oid: first })
  return topic
}

async function grantAccess(app: TestApp, owner: Person, api: TrellisClient): Promise<void> {
  await api.tokens.create({ name: REPO, scope: 'write', ttlSeconds: 7 * 86_400, refs: ['agents/**'] })
  const { id } = await api.tokens.create({ name: REPO, scope: 'read' })
  await api.tokens.revoke({ name: REPO, id })
  await api.invites.create({ name: REPO, maxReveals: 5 })
  await api.rules.set({ name: REPO, pattern: 'release/*', refuse: { delete: { except: [] } } })
  await api.secrets.set({ name: REPO, secret: 'API_TOKEN', value: 'a secret value' })
  await api.keys.create({ name: `Laptop ${LONG_WORD}`, scopes: ['repo:write'] })
  const agent = await registerAgent(app, { type: 'anonymous', agent_name: 'scribe' })
  await app.client(agent.token).repos.create({ name: 'notes' })
  await agent.beClaimed(owner)
}

async function fillRecords(api: TrellisClient): Promise<string> {
  const create = (data: object) => api.records.create({ name: REPO, record: 'task', data: { ...data } })
  const { id } = await create({ title: 'Write the guide', due: 1_800_000_000_000, meta: { tags: ['a'] } })
  for (const [i, status] of ['open', 'doing', 'done'].entries())
    await create({ title: `Task ${i} ${LONG_WORD}`, status, priority: i + 1, parent: id })
  return id
}

async function deliver(api: TrellisClient, receiver: Receiver): Promise<FullWorld['deliveries']> {
  const name = REPO
  const on = { push: { branches: ['main'] } }
  await api.webhooks.create({ name, webhook: 'ci', url: `${receiver.url}/${LONG_WORD}`, on })
  await api.webhooks.create({ name, webhook: 'gone', url: `${receiver.url}/gone`, on })
  receiver.answer = (response, received, request) =>
    answerWith(received.path === '/gone' ? 410 : 200, '{"thanks":true}')(response, received, request)
  const changes = [{ op: 'put' as const, path: 'a.txt', content: 'a' }]
  await api.git.commits.create({ name, branch: 'main', message: 'Tell everybody', changes })
  const ended = async (webhook: string) => {
    const { items } = await api.webhooks.deliveries.list({ name, webhook })
    return items.find(({ status }) => status !== 'pending')?.id
  }
  await until('both are told', async () => Boolean((await ended('ci')) && (await ended('gone'))))
  return { delivered: (await ended('ci')) ?? '', failed: (await ended('gone')) ?? '' }
}

async function run(api: TrellisClient): Promise<FullWorld['runs']> {
  const dispatch = async (extension: string, input: object = {}) =>
    (await api.runs.dispatch({ name: REPO, extension, input })).run.id
  const end = async (id: string) => {
    for (;;) {
      const { run } = await api.runs.get({ id, waitMs: 20_000 })
      if (run.endedAt !== null) return id
    }
  }
  const succeeded = await end(await dispatch('greet', { title: 'Hello' }))
  const failed = await end(await dispatch('breaks'))
  const workflow = await dispatch('flow')
  await end(await dispatch('tasks'))
  for (let wake = 0; wake < 3; wake++)
    await end((await api.daemons.wake({ name: REPO, daemon: 'tired' })).run.id)
  const find = async () => (await api.runs.list({ name: REPO, extension: 'triage' })).items[0]?.id
  await until('what follows from a run has begun', async () => Boolean(await find()))
  const caused = await end((await find()) ?? '')
  return { succeeded, failed, workflow, caused }
}
