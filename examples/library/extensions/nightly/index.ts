import type { Wake, WorkflowContext } from '@trellis/extension'
import type { Test } from '../../lib/rows.ts'

type Ctx = WorkflowContext<'repo:read' | 'repo:write' | 'records:read' | 'events:emit'>

const DAY_MS = 24 * 60 * 60_000
/** Coordinated Universal Time. */
const HOUR = 3
const RETRIES = { retries: 3, delayMs: 1000, backoff: 'exponential' } as const

/** Woken once a day, at whatever hour it was promoted. To sleep until the night costs a row. */
export default async function ({ reason }: Wake, ctx: Ctx) {
  const { step } = ctx
  if (reason === 'schedule') await step.sleepUntil('night', nextNight(Date.now()))
  const now = Date.now()
  const day = new Date(now).toISOString().slice(0, 10)
  const report = await step.do('collect', RETRIES, () => collect(day, now - DAY_MS, ctx))
  // Done again it changes nothing: the same file with the same text is no commit.
  const oid = await step.do('write', RETRIES, () => write(day, report, ctx))
  await step.do('tell', RETRIES, async () => {
    await ctx.events.emit('report.written', { subject: day, payload: { oid } })
    return true
  })
  return { day, oid }
}

function nextNight(now: number): number {
  const night = new Date(now).setUTCHours(HOUR, 0, 0, 0)
  return night > now ? night : night + DAY_MS
}

async function collect(day: string, since: number, ctx: Ctx): Promise<string> {
  const commits = (await ctx.repo.commits({ ref: 'main', limit: 100 })).filter(
    ({ committer }) => committer.time >= since,
  )
  const { rows } = await ctx.records.list<Test>('test', { where: { createdAt: { gte: since } }, limit: 100 })
  const failed = rows.filter(({ data }) => data.outcome === 'failed')
  return [
    `# ${day}`,
    '',
    `${commits.length} commits on main, ${rows.length} runs of the tests, ${failed.length} of which failed.`,
    '',
    ...commits.map(
      ({ oid, message, author }) => `- ${oid.slice(0, 8)} ${message.split('\n')[0]} (${author.name})`,
    ),
    ...failed.map(({ data }) => `- failed: ${data.commit.slice(0, 8)} on ${data.ref}`),
    '',
  ].join('\n')
}

async function write(day: string, report: string, ctx: Ctx): Promise<string> {
  const { oid } = await ctx.repo.commit({
    branch: 'reports',
    message: `Report of ${day}`,
    changes: [{ op: 'put', path: `reports/${day}.md`, content: report }],
  })
  return oid
}
