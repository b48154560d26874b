// `npm run bench:agents -- [--agents 200] [--minutes 5] [--server <packages/server/src/main.ts of another version>]`:
// agents that read, commit, push and clone, each as soon as it has thought a little about the last answer; prints how
// many of each went through, how long they took, and how late the event loop came to its work.

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { call, createRepo, fastImport, git, type Remote } from './git-stage.ts'
import { commits } from './histories.ts'
import { post, request, visit } from './load.ts'
import { takeLoopDelayMs } from './loop-delay.ts'
import { milliseconds, quantile } from './measure.ts'
import { runTrellis } from './processes.ts'
import { packet, pushOfOneFile } from './small-pack.ts'

const { values: flags } = parseArgs({
  options: {
    agents: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '5' },
    server: { type: 'string', default: 'packages/server/src/main.ts' },
  },
})
const agents = Number(flags.agents)
const minutes = Number(flags.minutes)
const THINK_MS = 100
const WARM_UP_MS = 10_000

/** What an agent does, and how often of a hundred. */
const HABITS = {
  'repos/get': 10,
  'git/trees/get': 20,
  'git/blobs/get': 30,
  'git/commits/list': 10,
  'git/commits/create': 15,
  push: 8,
  clone: 7,
}
type Habit = keyof typeof HABITS

const trellis = await runTrellis({ script: flags.server })
const times = new Map<Habit, number[]>()
try {
  const { library, tip } = await makeLibrary()
  let isMeasured = false
  let isWanted = true
  const working = Array.from({ length: agents }, (_, i) => work(i))
  await sleep(WARM_UP_MS)
  await takeLoopDelayMs()
  isMeasured = true
  const began = performance.now()
  await sleep(minutes * 60_000)
  isWanted = false
  const seconds = (performance.now() - began) / 1000
  await Promise.all(working)
  const all = [...times.values()].flat()
  const row = (taken: number[]) => ({
    'a second': (taken.length / seconds).toFixed(1),
    p50: milliseconds(quantile(taken, 0.5)),
    p99: milliseconds(quantile(taken, 0.99)),
  })
  console.table({
    ...Object.fromEntries([...times].sort().map(([habit, taken]) => [habit, row(taken)])),
    all: row(all),
  })
  console.log(`the event loop was late by ${milliseconds(await takeLoopDelayMs())} in one of a hundred cases`)

  async function work(i: number): Promise<void> {
    const own = await createRepo(trellis, `agent-${i}`)
    await call(trellis, 'git/commits/create', commitOf(`agent-${i}`, 0))
    let sent = 0
    const kinds: Habit[] = []
    const next = () => {
      const habit = habitAt((i * 31 + sent * 17) % 100)
      kinds.push(habit)
      return requestFor(habit, { own, name: `agent-${i}`, number: ++sent })
    }
    // What was sent before the measure began is not in it.
    let before = 0
    const noting = setInterval(() => {
      if (!isMeasured) before = kinds.length
    }, 50)
    const took = await visit({ port: trellis.port, restMs: THINK_MS, isWanted: () => isWanted, next })
    clearInterval(noting)
    for (let at = before; at < took.length; at++) {
      const habit = kinds[at] as Habit
      const known = times.get(habit) ?? []
      times.set(habit, known)
      known.push(took[at] as number)
    }
  }

  function requestFor(
    habit: Habit,
    { own, name, number }: { own: Remote; name: string; number: number },
  ): string | Buffer {
    const headers = { authorization: `Bearer ${trellis.key}` }
    switch (habit) {
      case 'repos/get':
        return post('/api/v1/repos/get', { name }, headers)
      case 'git/trees/get':
        return post('/api/v1/git/trees/get', { name: 'library', path: `folder-${number % 40}` }, headers)
      case 'git/blobs/get':
        return post('/api/v1/git/blobs/get', { name, path: `notes/${number % 3}.txt` }, headers)
      case 'git/commits/list':
        return post('/api/v1/git/commits/list', { name: 'library', limit: 20 }, headers)
      case 'git/commits/create':
        return post('/api/v1/git/commits/create', commitOf(name, number), headers)
      case 'push':
        return pushOfOneFile(own, `work-${number}`)
      case 'clone':
        return cloneOf(library, tip)
    }
  }
} finally {
  await trellis.stop()
}

function habitAt(place: number): Habit {
  let left = place
  for (const [habit, share] of Object.entries(HABITS)) {
    if (left < share) return habit as Habit
    left -= share
  }
  throw new Error('the habits are not a hundred')
}

/** What all of them read and clone. */
async function makeLibrary(): Promise<{ library: Remote; tip: string }> {
  const library = await createRepo(trellis, 'library')
  const source = `${trellis.data}/library.git`
  const pathOf = (random: () => number) => `folder-${random() % 40}/file-${random() % 12}.txt`
  await fastImport(source, commits({ count: 1000, pathOf, marks: 5 }))
  await git('-C', source, 'push', '--quiet', '--mirror', library.url)
  return { library, tip: (await git('-C', source, 'rev-parse', 'refs/heads/main')).trim() }
}

function commitOf(name: string, number: number) {
  const content = `${number} of ${name}\n`.repeat(20)
  const changes = [0, 1, 2].map((i) => ({ op: 'put', path: `notes/${i}.txt`, content }))
  return { name, branch: 'main', message: `Change ${number}`, changes }
}

function cloneOf({ path, headers }: Remote, tip: string): string {
  const lines = ['thin-pack', 'no-progress', 'include-tag', 'ofs-delta', `want ${tip}\n`, 'done\n']
  const body = `${packet('command=fetch')}${packet('object-format=sha1')}0001${lines.map(packet).join('')}0000`
  const all = {
    ...headers,
    'git-protocol': 'version=2',
    'content-type': 'application/x-git-upload-pack-request',
  }
  return request('POST', `${path}/git-upload-pack`, all, body)
}
