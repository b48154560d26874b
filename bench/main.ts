import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { attacks } from './attacks.ts'
import { getsBesideFew, getsBesideMany } from './beside.ts'
import { commitsAlone, commitsAtOnce, tagsCreate } from './commits.ts'
import { daemonLateness } from './daemons.ts'
import { closeBenchPostgres } from './databases.ts'
import { rareEvents } from './events.ts'
import { extensionsList } from './extensions.ts'
import { pushToFirstLine } from './first-line.ts'
import { closeStage, coldClone, fork, lsRemote, noopFetch, parallelClones, smallPush } from './git.ts'
import { growthBranches, growthDeliveries, growthRefs, growthRepos } from './growth.ts'
import { commitsList } from './history.ts'
import { takeLoopDelayMs } from './loop-delay.ts'
import { median, milliseconds, type Row } from './measure.ts'
import { objectReads } from './objects.ts'
import { promotions } from './promotions.ts'
import { firstPush, largePush } from './pushes.ts'
import { recordPage, recordWrites, recordWritesOfMany } from './records.ts'
import { reposCreate, reposList } from './repos.ts'
import { runDispatch, runsAtOnce, runWorkflow } from './runs.ts'
import { sandboxRun, sandboxTree } from './sandbox.ts'
import { sessionAgainstKey } from './sessions.ts'
import { idleTails } from './tails.ts'
import { fanOutTo0, fanOutTo10, fanOutTo100, madeDeliveries, webhookDeliveries } from './webhooks.ts'
import { workerColdModule, workerColdProcess, workerWarm } from './worker.ts'
import { zoo } from './zoo.ts'

/** Each stands for itself: undefined where the machine lacks what it is measured against. */
const benchmarks: Record<string, () => Promise<Row | undefined>> = {
  'repos-create': reposCreate,
  'repos-list': reposList,
  'commits-list': commitsList,
  'session-against-key': sessionAgainstKey,
  'commits-create': commitsAlone,
  'commits-create-at-once': commitsAtOnce,
  'tags-create': tagsCreate,
  'gets-beside': getsBesideFew,
  'gets-beside-many': getsBesideMany,
  'ls-remote': lsRemote,
  'no-op-fetch': noopFetch,
  'parallel-clones': parallelClones,
  'cold-clone': coldClone,
  'small-push': smallPush,
  'first-push': firstPush,
  'large-push': largePush,
  fork,
  ...objectReads,
  'growth-repos': growthRepos,
  'growth-refs': growthRefs,
  'growth-branches': growthBranches,
  'growth-deliveries': growthDeliveries,
  'rare-events': rareEvents,
  'record-page': recordPage,
  'record-writes': recordWrites,
  'record-writes-of-many': recordWritesOfMany,
  'extensions-list': extensionsList,
  'webhook-deliveries': webhookDeliveries,
  'made-deliveries': madeDeliveries,
  'fan-out-0': fanOutTo0,
  'fan-out-10': fanOutTo10,
  'fan-out-100': fanOutTo100,
  'worker-warm': workerWarm,
  'worker-cold-module': workerColdModule,
  'worker-cold-process': workerColdProcess,
  'run-dispatch': runDispatch,
  'run-workflow': runWorkflow,
  'runs-at-once': runsAtOnce,
  'push-to-first-line': pushToFirstLine,
  'sandbox-run': sandboxRun,
  'sandbox-tree': sandboxTree,
  'daemon-lateness': daemonLateness,
  'idle-tails': idleTails,
  ...attacks,
  ...zoo,
  ...promotions,
}

const { positionals: wanted, values: flags } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '1' }, help: { type: 'boolean', short: 'h', default: false } },
})
if (flags.help) {
  console.log(
    `npm run bench -- [--runs <times>] [name …]\n\nMeasures everything, or what is named, in so many runs: ${Object.keys(benchmarks).join(', ')}`,
  )
  process.exit()
}
const runs = Number(flags.runs)
if (!(Number.isInteger(runs) && runs > 0)) throw new Error('--runs is a number of runs, from 1 on')
for (const name of wanted)
  if (!(name in benchmarks))
    throw new Error(`no benchmark ${name}; there are ${Object.keys(benchmarks).join(', ')}`)

/** What several runs gave. */
interface Measured {
  rows: Row[]
  loopDelayMs: number
}

const measured = new Map<string, Measured>()
const times = (ratio: number | undefined) => `${ratio?.toFixed(2)}×`

async function measure(name: string, benchmark: () => Promise<Row | undefined>): Promise<void> {
  process.stderr.write(`${name} …\n`)
  try {
    await takeLoopDelayMs()
    const row = await benchmark()
    const loopDelayMs = await takeLoopDelayMs()
    if (!row) {
      process.stderr.write(
        `${name} left out: it needs nginx and fcgiwrap, or bubblewrap (apt-get install nginx fcgiwrap bubblewrap)\n`,
      )
      return
    }
    // Whoever ends it early has these.
    process.stderr.write(`  ${times(row.ratio)}: ${row.ours}, ${row.peer}: ${row.theirs}\n`)
    const before = measured.get(name)
    measured.set(name, {
      rows: [...(before?.rows ?? []), row],
      loopDelayMs: Math.max(before?.loopDelayMs ?? 0, loopDelayMs),
    })
  } catch (error) {
    // The others are still worth their time.
    process.stderr.write(`${name} failed: ${error instanceof Error ? error.stack : error}\n`)
    process.exitCode = 1
  }
}

try {
  for (let run = 0; run < runs; run++)
    for (const [name, benchmark] of Object.entries(benchmarks))
      if (wanted.length === 0 || wanted.includes(name)) await measure(name, benchmark)
} finally {
  await closeStage()
  await closeBenchPostgres()
}

const rows = [...measured.values()].map(({ rows, loopDelayMs }) => {
  const sorted = rows.toSorted((a, b) => a.ratio - b.ratio)
  const [middle] = sorted.slice(sorted.length >> 1)
  const ratios = sorted.map(({ ratio }) => ratio)
  return { ...(middle as Row), ratio: median(ratios), ratios, loopDelayMs }
})
console.table(
  Object.fromEntries(
    rows.map(({ work, peer, ours, theirs, ratio, ratios, goal, loopDelayMs }) => [
      work,
      {
        ours,
        peer,
        theirs,
        ratio: times(ratio),
        ...(runs > 1 && { from: times(ratios[0]), to: times(ratios.at(-1)) }),
        goal: goal === undefined ? '' : `≥ ${goal}×`,
        met: goal === undefined ? '' : ratio >= goal ? 'yes' : 'no',
        'loop p99': loopDelayMs > 0 ? milliseconds(loopDelayMs) : '',
      },
    ]),
  ),
)
await mkdir('bench/results', { recursive: true })
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version }
await writeFile('bench/results/latest.json', `${JSON.stringify({ machine, runs, rows }, null, 2)}\n`)
