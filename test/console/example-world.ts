// A server with a team at work on the tracker of examples/: what there is to see in pictures of the console.

import assert from 'node:assert/strict'
import { cp, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TrellisClient } from '@trellis/contract/client'
import { join as joinOrg, type Person, startReceiver, type TestApp } from '@trellis/server/testing'
import { git } from '../git/client.ts'
import { until } from '../git/harness.ts'

const TRACKER = resolve(import.meta.dirname, '../../examples/tracker')
export const ORG = 'acme'
export const REPO = 'tracker'
const HOUR_MS = 3_600_000

const TASKS = [
  { title: 'Write the guide', area: 'docs', priority: 2 },
  { title: 'Say how long a token lives', area: 'docs', priority: 3 },
  { title: 'Sign releases', area: 'web', priority: 1 },
  { title: 'Find links that lead nowhere', area: 'api', priority: 3 },
  { title: 'Remind of what is overdue once a day', area: 'web', priority: 4 },
  { title: 'Sort the board by due date', area: 'web', priority: 3 },
  { title: 'Show who approved a release', area: 'web', priority: 5 },
  { title: 'Check shell scripts with dash, too', area: 'api', priority: 2 },
]

export interface World extends AsyncDisposable {
  ana: Person
  /** A run whose steps can be seen. */
  runId: string
}

export async function populate(app: TestApp): Promise<World> {
  await using made = new AsyncDisposableStack()
  const ana = await app.signUp('ana')
  const [grace, linus] = [await app.signUp('grace'), await app.signUp('linus')]
  await app.client(ana.token).orgs.create({ slug: ORG, name: 'Acme' })
  await joinOrg(app, { slug: ORG, owner: ana }, grace, 'admin')
  await joinOrg(app, { slug: ORG, owner: ana }, linus, 'member')
  const api = app.client(ana.token, ORG)
  for (const name of ['handbook', 'infrastructure', REPO, 'website']) await api.repos.create({ name })

  const directory = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-pictures-')))
  await pushHistory(app, ana, directory.path)
  await api.extensions.promote({ name: REPO })

  const receiver = made.use(await startReceiver())
  await api.webhooks.create({ name: REPO, webhook: 'chat', url: `${receiver.url}/chat`, on: {} })
  await api.webhooks.create({
    name: REPO,
    webhook: 'ci',
    url: `${receiver.url}/ci`,
    on: { push: { branches: ['main'] } },
  })
  await useTracker([ana, grace, linus].map(({ token }) => app.client(token, ORG)))
  await api.tokens.create({ name: REPO, scope: 'write', ttlSeconds: 7 * 86_400, refs: ['agents/**'] })
  await api.invites.create({ name: REPO, maxReveals: 5 })
  await api.members.invite({ orgSlug: ORG, email: 'margaret@example.com' })
  const runId = await release(api)
  const kept = made.move()
  return { ana, runId, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** A few days of commits by several people, and a branch that waits to be merged. */
async function pushHistory(app: TestApp, { token }: Person, dir: string): Promise<void> {
  const run = (args: string[], env: Record<string, string> = {}) => git(args, { cwd: dir, env })
  const commit = async (who: string, hoursAgo: number, message: string) => {
    const date = new Date(Date.now() - hoursAgo * HOUR_MS).toISOString()
    await run(['add', '-A'])
    await run(['commit', '-q', '-m', message], {
      ...{
        GIT_AUTHOR_NAME: who,
        GIT_AUTHOR_EMAIL: `${who.toLowerCase()}@example.com`,
        GIT_AUTHOR_DATE: date,
      },
      ...{ GIT_COMMITTER_NAME: who, GIT_COMMITTER_DATE: date },
    })
  }
  const take = (path: string) => cp(join(TRACKER, path), join(dir, path), { recursive: true })
  await run(['init', '-q', '-b', 'main'])
  for (const path of ['README.md', 'areas.json', 'lib']) await take(path)
  await commit('Ana', 96, 'Begin the tracker')
  for (const path of ['extensions/tasks', 'extensions/overdue']) await take(path)
  await commit('Grace', 71, 'Find somebody for every task')
  await take('extensions/releases')
  await commit('Ana', 46, 'Draft releases, and wait for approval')
  for (const path of ['extensions/checks', 'extensions/alerts']) await take(path)
  await commit('Linus', 22, 'Check links and shell scripts of every push')
  const { secret } = await app.client(token, ORG).keys.create({ name: 'Laptop', scopes: ['repo:write'] })
  const remote = app.url.replace('://', `://ana:${secret}@`)
  await run(['push', '-q', `${remote}/git/${ORG}/${REPO}.git`, 'HEAD:main'])

  const descriptor = join(dir, 'extensions/tasks/extension.json')
  const tasks = await readFile(descriptor, 'utf8')
  const estimate = '"estimate": { "type": "integer", "min": 1, "max": 100, "default": 1 },'
  await writeFile(
    descriptor,
    tasks
      .replace('"events:emit"]', '"events:emit", "net:calendar.example.com"]')
      .replace(/^( +)"area":/m, `$1${estimate}\n$&`),
  )
  await commit('Grace', 5, 'Estimate tasks')
  const readme = join(dir, 'README.md')
  const text = await readFile(readme, 'utf8')
  await writeFile(readme, text.replace('## Try it', 'Every task has an estimate, in hours.\n\n## Try it'))
  await commit('Grace', 4, 'Say what an estimate is')
  await run(['push', '-q', `${remote}/git/${ORG}/${REPO}.git`, 'HEAD:agents/estimates'])
}

/** Tasks at all stages. Their hooks run, and the webhooks are told. */
async function useTracker(people: TrellisClient[]): Promise<void> {
  const one = (i: number) => people[i % people.length] ?? assert.fail()
  const list = async () => (await one(0).records.list({ name: REPO, record: 'task', limit: 50 })).rows
  for (const [i, task] of TASKS.entries())
    await one(i).records.create({
      name: REPO,
      record: 'task',
      data: { ...task, due: Date.now() + (i + 2) * 24 * HOUR_MS },
    })
  await until('all tasks have somebody', async () => (await list()).every(({ data }) => data.assignee))
  for (const [i, { id, data }] of (await list()).slice(0, 4).entries()) {
    const api = one(i)
    for (const status of Number(data.priority) > 2 ? ['doing'] : ['doing', 'done']) {
      const { revision } = await api.records.get({ name: REPO, record: 'task', id })
      await api.records.update({ name: REPO, record: 'task', id, revision, data: { status } })
    }
  }
}

/** Drafts a release, which then sleeps until somebody approves it. */
async function release(api: TrellisClient): Promise<string> {
  const { run } = await api.runs.dispatch({ name: REPO, extension: 'releases', input: { version: '1.2.0' } })
  await until('the release is drafted', async () => {
    const { rows } = await api.records.list({ name: REPO, record: 'release', limit: 1 })
    return rows.length > 0
  })
  assert.ok(run.id)
  return run.id
}
