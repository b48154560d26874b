import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { load, post } from './load.ts'
import { inTurns, perSecond, type Row } from './measure.ts'
import { type Running, runScript } from './processes.ts'
import { makeScratch } from './scratch.ts'

const run = promisify(execFile)

const ROUNDS = 3
const FAN_OUT_ROUNDS = 5
const HOOKS = 8
const EVENTS = 500
/** Fewer, because each is a run. */
const MADE_EVENTS = 100
/** About what an event of a repository takes. */
const BODY_BYTES = 420

/** A Trellis that may deliver to this machine. With `env` it can be told not to deliver at all. */
async function runWithWebhooks(data: string, env: Record<string, string> = {}) {
  const running = await runScript('packages/server/src/main.ts', {
    env: {
      TRELLIS_LISTEN: '127.0.0.1:0',
      TRELLIS_DATA: data,
      TRELLIS_RATE_PER_SECOND: '1000000',
      TRELLIS_RATE_BURST: '1000000',
      TRELLIS_EGRESS_ALLOW: '127.0.0.1',
      TRELLIS_LOG_LEVEL: 'warn',
      ...env,
    },
  })
  const key = (await readFile(join(data, 'owner.key'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${key}` }
  const call = async (path: string, input: unknown) => {
    const response = await fetch(`${running.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
  return { ...running, headers, call }
}

type Writer = Awaited<ReturnType<typeof runWithWebhooks>>

const received = async ({ url }: Running): Promise<number> => Number(await (await fetch(url)).text())

/** Writes a backlog with a process that delivers nothing, then starts one that delivers, and times how it drains it. */
async function drain(
  { data, writer, receiver }: { data: string; writer: Writer; receiver: Running },
  { name, events }: { name: string; events: number },
): Promise<number> {
  for (let i = 0; i < events; i++) await writer.call('repos/update', { name, readOnly: false })
  const before = await received(receiver)
  const sender = await runWithWebhooks(data)
  // From the first that arrives, so that the start of the process does not count.
  let first = before
  while (first === before) first = await received(receiver)
  const started = performance.now()
  const wanted = before + events * HOOKS
  for (let now = first; now < wanted; now = await received(receiver)) await sleep(5)
  const seconds = (performance.now() - started) / 1000
  await sender.stop()
  return (wanted - first) / seconds
}

const UPDATES = { event: { types: ['repo.updated'] } }

export const webhookDeliveries = () =>
  withWriter(async (stage) => {
    const { writer, receiver } = stage
    await writer.call('repos/create', { name: 'told' })
    for (let i = 0; i < HOOKS; i++) {
      const webhook = { webhook: `hook-${i}`, url: receiver.url, on: UPDATES }
      await writer.call('webhooks/create', { name: 'told', ...webhook })
    }
    async function theirs(): Promise<number> {
      const count = EVENTS * HOOKS
      const { stdout } = await run(process.execPath, [
        'bench/peers/webhook-poster.ts',
        receiver.url,
        ...[HOOKS, count, BODY_BYTES].map(String),
      ])
      return count / (Number(stdout) / 1000)
    }
    const result = await inTurns(ROUNDS, () => drain(stage, { name: 'told', events: EVENTS }), theirs)
    return {
      work: `webhook deliveries, ${HOOKS} webhooks`,
      peer: 'a plain fetch loop posting the same bodies',
      ours: perSecond(result.ours),
      theirs: perSecond(result.theirs),
      ratio: result.ours / result.theirs,
      goal: 1,
    }
  })

/** Bodies that modules make, against those that are sent as they are: declared in the same way, with a module and without. */
export const madeDeliveries = () =>
  withWriter(async (stage) => {
    const { writer, receiver } = stage
    const declare = async (name: string, payload: object, module: Record<string, string>) => {
      await writer.call('repos/create', { name })
      const files = Object.fromEntries(
        Array.from({ length: HOOKS }, (_, i) => [
          `webhooks/hook-${i}/webhook.json`,
          JSON.stringify({ url: receiver.url, on: UPDATES, ...payload }),
        ]),
      )
      for (const [path, content] of Object.entries(module))
        for (let i = 0; i < HOOKS; i++) files[`webhooks/hook-${i}/${path}`] = content
      const changes = Object.entries(files).map(([path, content]) => ({ op: 'put', path, content }))
      await writer.call('git/commits/create', { name, branch: 'main', message: 'Add', changes })
      await writer.call('extensions/promote', { name })
      return () => drain(stage, { name, events: MADE_EVENTS })
    }
    const made = await declare(
      'made',
      { payload: 'payload.ts' },
      { 'payload.ts': "export default ({ type, repo }: any) => ({ text: type + ' in ' + repo.name })\n" },
    )
    const plain = await declare('plain', {}, {})
    const { ours, theirs } = await inTurns(ROUNDS, made, plain)
    return {
      work: `deliveries of bodies that modules make, ${HOOKS} webhooks`,
      peer: 'the same webhooks without a module',
      ours: perSecond(ours),
      theirs: perSecond(theirs),
      ratio: ours / theirs,
    }
  })

async function withWriter(
  measure: (stage: { data: string; writer: Writer; receiver: Running }) => Promise<Row>,
): Promise<Row> {
  const data = await makeScratch('webhooks')
  const receiver = await runScript('bench/peers/webhook-receiver.ts')
  const writer = await runWithWebhooks(data, { TRELLIS_WEBHOOK_CONCURRENCY: '0' })
  try {
    return await measure({ data, writer, receiver })
  } finally {
    await writer.stop()
    await receiver.stop()
  }
}

/** What it costs that so many webhooks hear of a change, against the same change where there are no webhooks. */
const eventFannedOutTo = (hooks: number) => async (): Promise<Row> => {
  const directories = await Promise.all([0, 1].map(() => makeScratch('fan-out')))
  const [oursData = '', theirsData = ''] = directories
  const trellis = await runWithWebhooks(oursData, { TRELLIS_WEBHOOK_CONCURRENCY: '0' })
  const without = await runWithWebhooks(theirsData, { TRELLIS_WEBHOOKS: 'off' })
  try {
    for (const server of [trellis, without]) await server.call('repos/create', { name: 'told' })
    for (let i = 0; i < hooks; i++)
      await trellis.call('webhooks/create', {
        name: 'told',
        webhook: `hook-${i}`,
        url: 'http://127.0.0.1:9/',
        on: UPDATES,
      })
    const update = ({ port, headers }: typeof trellis) => {
      const request = post('/api/v1/repos/update', { name: 'told', readOnly: false }, headers)
      return () => load({ port, connections: 1, seconds: 1, next: () => request })
    }
    await update(without)()
    await update(trellis)()
    const { ours, theirs } = await inTurns(FAN_OUT_ROUNDS, update(trellis), update(without))
    const each = (rate: number) => `${(1000 / rate).toFixed(2)} ms`
    return {
      work: `a change that ${hooks} webhooks hear of`,
      peer: 'the same with webhooks off',
      ours: each(ours),
      theirs: each(theirs),
      ratio: ours / theirs,
    }
  } finally {
    await trellis.stop()
    await without.stop()
  }
}

export const fanOutTo0 = eventFannedOutTo(0)
export const fanOutTo10 = eventFannedOutTo(10)
export const fanOutTo100 = eventFannedOutTo(100)
