import { setTimeout as sleep } from 'node:timers/promises'
import { installBubblewrap } from '@trellis/server/testing'
import { type Keeper, openKeeper } from '../test/extensions/zoo.ts'
import {
  BOMBS,
  BURROWERS,
  type Cage,
  filesOfCage,
  LOOPS,
  MORE_LOOPS,
  TALKERS,
} from '../test/extensions/zoo-animals.ts'
import { createSandbox, startServer } from '../test/git/harness.ts'
import { median, type Row } from './measure.ts'

/** What somebody of another organization runs meanwhile. */
const GOOD: Cage = {
  worker: { capabilities: ['repo:read'], does: `return (await ctx.repo.list('')).length` },
  workflow: { runtime: 'workflow', does: `return ctx.step.do('only', () => 1)` },
  sandbox: { runtime: 'sandbox', does: 'return 1' },
}
const ROUNDS = 15
/** As many runs as an organization may have. */
const ALL_AT_ONCE = 8
const REST_MS = 50

type Times = Record<keyof typeof GOOD, number[]>

/** How many times longer runs of others take, beside an organization that lets all of a cage out again and again. */
const beside = (what: string, cage: Cage) => async (): Promise<Row | undefined> => {
  await installBubblewrap()
  const sandbox = createSandbox()
  const server = await startServer(sandbox.path('data'), {
    TRELLIS_LOG_LEVEL: 'error',
    TRELLIS_RATE_PER_SECOND: '100000',
  })
  try {
    const open = (name: string, animals: Cage) =>
      openKeeper(server, sandbox, { name, files: filesOfCage(animals) })
    const good = await open('good', GOOD)
    const bad = await open('bad', cage)
    const { items } = await good.ok('extensions/list', { name: 'zoo' })
    if (!items.every(({ dispatchable }: { dispatchable: boolean }) => dispatchable)) return undefined
    await timesOf(good, 2)
    const before = await timesOf(good, ROUNDS)
    const ratiosBeside = async (atOnce: number) => {
      const attack = startAttack(bad, Object.keys(cage), atOnce)
      // Until all of them are at it.
      await sleep(1_000)
      const meanwhile = await timesOf(good, ROUNDS)
      await attack.stop()
      return Object.keys(GOOD).map((name) => ({
        name,
        ratio: median(meanwhile[name] ?? []) / median(before[name] ?? []),
      }))
    }
    const told = (ratios: { name: string; ratio: number }[]) =>
      ratios.map(({ name, ratio }) => `${name} ${ratio.toFixed(1)}×`).join(' ')
    const one = await ratiosBeside(1)
    const all = await ratiosBeside(ALL_AT_ONCE)
    return {
      work: `runs of others, while another lets out ${what}`,
      peer: 'the same before',
      ours: `${told(one)} (${ALL_AT_ONCE} at once: ${told(all)})`,
      theirs: '1×',
      ratio: 1 / Math.max(...one.map(({ ratio }) => ratio)),
      goal: 0.5,
    }
  } finally {
    await server.stop()
    sandbox.remove()
  }
}

async function timesOf(keeper: Keeper, rounds: number): Promise<Times> {
  const times: Times = Object.fromEntries(Object.keys(GOOD).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const [name, into] of Object.entries(times)) {
      const began = performance.now()
      const { status, error } = await keeper.ended(await keeper.dispatch(name))
      if (status !== 'succeeded') throw new Error(`${name}: ${error}`)
      into.push(performance.now() - began)
    }
  return times
}

/** Keeps so many of them running. */
function startAttack(keeper: Keeper, names: readonly string[], atOnce: number) {
  let isWanted = true
  const running = new Set<string>()
  async function attack(at: number): Promise<void> {
    for (let turn = at; isWanted; turn++) {
      const id = await keeper.dispatch(names[turn % names.length] ?? '')
      running.add(id)
      while (isWanted && (await keeper.ok('runs/get', { id, waitMs: 1_000 })).run.endedAt === null);
      running.delete(id)
    }
  }
  const attacks = Array.from({ length: atOnce }, (_, at) => attack(at))
  return {
    async stop() {
      isWanted = false
      for (const id of running) await keeper.ok('runs/cancel', { id })
      await Promise.all(attacks)
      await sleep(REST_MS)
    },
  }
}

export const zoo = {
  'beside-loops': beside('endless loops', { ...LOOPS, ...MORE_LOOPS }),
  'beside-bombs': beside('memory bombs and stuck steps', BOMBS),
  'beside-talkers': beside('floods of words, values and events', TALKERS),
  'beside-sandboxes': beside('bombs and floods in sandboxes', BURROWERS),
}
