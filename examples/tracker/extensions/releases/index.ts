import type { WorkflowContext } from '@trellis/extension'
import { allRows, type Release, type Task } from '../../lib/rows.ts'

type Ctx = WorkflowContext<'repo:read' | 'repo:write' | 'records:read' | 'records:write' | 'events:emit'>

const BRANCH = 'main'
const WEEK_MS = 7 * 24 * 60 * 60_000
const RETRIES = { retries: 3, delayMs: 1000, backoff: 'exponential' } as const

/**
 * A step is done again when the server dies before it is noted that it was done: so each looks first whether its work is
 * there already.
 */
export default async function ({ version }: { version: string }, ctx: Ctx) {
  const { step } = ctx
  const { id, ...drafted } = await step.do('draft', RETRIES, () => draft(version, ctx))
  if (drafted.status !== 'draft') throw new Error(`${version} is ${drafted.status} already`)
  const tasks = await step.do('collect tasks', RETRIES, () => collect(id, ctx))
  const subject = `release/${id}`
  // Whoever approves of it changes its status, and so does who gives it up.
  await step.waitForEvent('approval', { type: 'record.transitioned', subject, timeoutMs: WEEK_MS })
  const status = await step.do('decide', RETRIES, () => decide(id, ctx))
  if (status === 'abandoned') return { release: id, status, tasks }
  await step.do('tag', RETRIES, () => tag(id, ctx))
  const publishedAt = Date.now()
  await step.do('publish', RETRIES, () => finish(id, { status: 'published', publishedAt }, ctx))
  await step.do('tell', RETRIES, async () => {
    await ctx.events.emit('release.published', { subject, payload: { version, tasks } })
    return true
  })
  return { release: id, status: 'published', tasks }
}

/** The release of this version, which is of what is on the branch now unless there is one. */
async function draft(version: string, ctx: Ctx): Promise<{ id: string; status: Release['status'] }> {
  const { rows } = await ctx.records.list<Release>('release', { where: { version } })
  const [known] = rows
  if (known) return { id: known.id, status: known.data.status }
  const branch = (await ctx.repo.branches()).find(({ name }) => name === BRANCH)
  if (!branch) throw new Error(`There is no branch ${BRANCH}`)
  const { id } = await ctx.records.create('release', { version, commit: branch.oid })
  return { id, status: 'draft' }
}

/** Puts tasks that are done and in no release into this one, and lists them in its notes. */
async function collect(id: string, ctx: Ctx): Promise<number> {
  const done = { status: 'done', release: null }
  for await (const { id: task, revision } of allRows<Task>(ctx.records, 'task', done))
    await ctx.records.update<Task>('task', task, { revision, data: { release: id } })
  const titles: string[] = []
  for await (const { data } of allRows<Task>(ctx.records, 'task', { release: id })) titles.push(data.title)
  const { revision } = await ctx.records.get<Release>('release', id)
  const notes = titles.map((title) => `- ${title}\n`).join('')
  await ctx.records.update<Release>('release', id, { revision, data: { notes } })
  return titles.length
}

/** What is still a draft after so long is given up. */
async function decide(id: string, ctx: Ctx): Promise<Release['status']> {
  const { data } = await ctx.records.get<Release>('release', id)
  if (data.status !== 'draft') return data.status
  await finish(id, { status: 'abandoned' }, ctx)
  return 'abandoned'
}

async function tag(id: string, ctx: Ctx): Promise<string> {
  const { data } = await ctx.records.get<Release>('release', id)
  const name = `v${data.version}`
  if ((await ctx.repo.tags()).some((known) => known.name === name)) return name
  await ctx.repo.createTag(name, data.commit, { message: `${data.version}\n\n${data.notes ?? ''}` })
  return name
}

async function finish(id: string, data: Partial<Release>, ctx: Ctx): Promise<number> {
  const now = await ctx.records.get<Release>('release', id)
  if (now.data.status === data.status) return now.revision
  return (await ctx.records.update<Release>('release', id, { revision: now.revision, data })).revision
}
