import { setTimeout as sleep } from 'node:timers/promises'
import type { Teller } from './teller.ts'

const EXTENSIONS = {
  greet: {
    descriptor: { dispatch: true, capabilities: ['secret:GREETING'], on: { push: { branches: ['main'] } } },
    module: "export default (input: { to?: string }, ctx: any) => ctx.secrets.GREETING + ', ' + input.to\n",
  },
  patience: {
    descriptor: { runtime: 'workflow', dispatch: true },
    module: `export default async (_: unknown, { step }: any) => {
  await step.do('begin', () => 1)
  return step.waitForEvent('asked for', { type: 'answer.given' })
}
`,
  },
  watch: {
    descriptor: { daemon: { scheduleIntervalMinutes: 60, onEventTypes: ['git.tag.created'] } },
    module: 'export default () => null\n',
  },
}

/** A run that has ended, one that waits for what never comes, what sets others off, and a secret that they are given. */
export async function tellOfRuns({ ok, told }: Teller): Promise<void> {
  const name = 'engine'
  const ann = { token: told.credentials.ann, org: 'ann' }
  await ok('repos/create', { name }, ann)
  const changes = Object.entries(EXTENSIONS).flatMap(([extension, { descriptor, module }]) => [
    {
      op: 'put',
      path: `extensions/${extension}/extension.json`,
      content: JSON.stringify({ version: 1, name: extension, ...descriptor }),
    },
    { op: 'put', path: `extensions/${extension}/index.ts`, content: module },
  ])
  await ok('git/commits/create', { name, branch: 'main', message: 'Run', changes }, ann)
  await ok('secrets/set', { name, secret: 'GREETING', value: 'Hello' }, ann)
  await ok('extensions/promote', { name }, ann)
  const greeting = await ok('runs/dispatch', { name, extension: 'greet', input: { to: 'Ann' } }, ann)
  await ok('runs/get', { id: greeting.run.id, waitMs: 60_000 }, ann)
  const waiting = await ok('runs/dispatch', { name, extension: 'patience' }, ann)
  for (let tries = 0; tries < 300; tries++) {
    const { run } = await ok('runs/get', { id: waiting.run.id }, ann)
    if (run.status === 'running') break
    await sleep(200)
  }
  // Until it has come to the event it waits for.
  await sleep(3000)
}
