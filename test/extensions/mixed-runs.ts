// Extensions of every runtime, set off in every way, for tests that disturb them.

import { randomInt } from 'node:crypto'
import { filesOf } from '@trellis/server/testing'
import type { ServerProcess } from '../git/harness.ts'

/** What each step of a workflow leaves behind every time it is done, whatever is written down of it. */
const MARKED = `
  const mark = (step: string, more = async () => {}) => ctx.step.do(step, async () => {
    const token = crypto.randomUUID()
    await ctx.records.create('mark', { run: ctx.run.id, step, token })
    await more()
    return token
  })`

export const files = filesOf({
  marks: {
    declares: {
      record: {
        name: 'mark',
        fields: { run: { type: 'string' }, step: { type: 'string' }, token: { type: 'string' } },
      },
    },
    does: '',
  },
  items: {
    declares: { record: { name: 'item', fields: { n: { type: 'integer' } }, hooks: { onCreate: true } } },
    does: 'return { n: input.row.data.n }',
  },
  asks: {
    declares: { capabilities: ['events:emit', 'runs:dispatch', 'records:write', 'repo:write'] },
    does: `
      const { n, does } = input
      console.log('begun')
      if (does === 'emit') await ctx.events.emit('mixed.asked', { subject: 'n/' + n, payload: { n } })
      if (does === 'dispatch') await ctx.runs.dispatch('child', { n })
      if (does === 'keep') await ctx.records.create('item', { n })
      if (does === 'commit')
        await ctx.repo.commit({ branch: 'run-' + n, message: 'n', changes: [{ op: 'put', path: 'n', content: String(n) }] })
      if (does === 'end') await ctx.events.emit('mixed.over')
      await new Promise((resolve) => setTimeout(resolve, 20))
      return { n }`,
  },
  child: { does: 'return { n: input.n }' },
  hears: {
    declares: { on: { event: { types: ['mixed.asked'] } } },
    does: 'return { n: input.payload.n }',
  },
  pushed: {
    declares: { on: { push: {} }, capabilities: ['repo:read'] },
    does: 'return { n: Number(await ctx.repo.readText("n")) }',
  },
  box: {
    declares: { runtime: 'sandbox', capabilities: ['records:write'] },
    does: `
      console.log('begun')
      await ctx.records.create('mark', { run: ctx.run.id, step: 'box', token: '' })
      return { n: input.n }`,
  },
  flow: {
    declares: { runtime: 'workflow', capabilities: ['records:write', 'runs:dispatch'] },
    does: `${MARKED}
      const first = await mark('first')
      await ctx.step.sleep('a moment', 200)
      const [left, right] = await Promise.all([mark('left'), mark('right')])
      await ctx.step.waitForEvent('what never comes', { type: 'mixed.never', timeoutMs: 100 })
      const last = await mark('last', () => ctx.runs.dispatch('child', { n: input.n }))
      return { n: input.n, first, left, right, last }`,
  },
  patient: {
    declares: { runtime: 'workflow', capabilities: ['records:write'] },
    does: `${MARKED}
      const first = await mark('first')
      await ctx.step.waitForEvent('the end', { type: 'mixed.over' })
      return { n: input.n, first, last: await mark('last') }`,
  },
  watches: {
    declares: { daemon: { scheduleIntervalMinutes: 1440, onEventTypes: ['mixed.asked'] } },
    does: 'return { n: -1, seqs: input.events.map((event: any) => event.seq) }',
  },
})

export type Ask = (
  server: ServerProcess,
  name: string,
  n: number,
) => Promise<{ status: number; body: unknown; kept: string }>

const dispatch =
  (extension: string, does?: string): Ask =>
  async (server, name, n) => {
    const answer = await server.post('runs/dispatch', { name, extension, input: { n, does } })
    return { ...answer, kept: (answer.body as { run: { id: string } }).run?.id }
  }

/** Ways to set off runs, how many each sets off, and how often of a hundred it is chosen. */
const WAYS: Record<string, { ask: Ask; runs: number; share: number }> = {
  worker: { ask: dispatch('asks'), runs: 1, share: 16 },
  event: { ask: dispatch('asks', 'emit'), runs: 2, share: 12 },
  child: { ask: dispatch('asks', 'dispatch'), runs: 2, share: 12 },
  'record of a run': { ask: dispatch('asks', 'keep'), runs: 2, share: 8 },
  'push of a run': { ask: dispatch('asks', 'commit'), runs: 2, share: 6 },
  record: {
    async ask(server, name, n) {
      const answer = await server.post('records/create', { name, record: 'item', data: { n } })
      return { ...answer, kept: (answer.body as { id: string }).id }
    },
    runs: 1,
    share: 10,
  },
  push: {
    async ask(server, name, n) {
      const changes = [{ op: 'put', path: 'n', content: String(n) }]
      const asked = { name, branch: `asked-${n}`, message: 'n', changes }
      const answer = await server.post('git/commits/create', asked)
      return { ...answer, kept: (answer.body as { oid: string }).oid }
    },
    runs: 1,
    share: 6,
  },
  sandbox: { ask: dispatch('box'), runs: 1, share: 10 },
  workflow: { ask: dispatch('flow'), runs: 2, share: 20 },
}

export const askToEnd = dispatch('asks', 'end')
export const askToWait = dispatch('patient')

/** Ways that together set off so many runs, each of them at least once. */
export function chooseWays(runs: number, canSandbox: boolean): Ask[] {
  const ways = Object.entries(WAYS).flatMap(([name, way]) => (name !== 'sandbox' || canSandbox ? [way] : []))
  const bag = ways.flatMap((way) => Array.from({ length: way.share }, () => way))
  const chosen = [...ways]
  while (chosen.reduce((sum, way) => sum + way.runs, 0) < runs)
    chosen.push(...bag.slice(randomInt(bag.length)).slice(0, 1))
  return chosen
    .map((way) => ({ way, at: randomInt(2 ** 32) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ way }) => way.ask)
}
