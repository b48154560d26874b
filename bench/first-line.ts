import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'
import { call, createRepo, git } from './git-stage.ts'
import { inTurns, milliseconds, type Row } from './measure.ts'
import { runTrellis, type Trellis } from './processes.ts'
import { makeScratch } from './scratch.ts'

const ROUNDS = 21
const EXTENSION = {
  'extensions/hears/extension.json': JSON.stringify({
    version: 1,
    name: 'hears',
    on: { push: { branches: ['**'] } },
  }),
  'extensions/hears/index.ts': `export default async () => { console.log('heard') }\n`,
}

interface Told {
  type: string
  subject: string
}

/** From the start of a push to the first line that what it sets off has said, as one sees it who follows the repository. */
export async function pushToFirstLine(): Promise<Row> {
  const trellis = await runTrellis()
  const scratch = await makeScratch('line')
  try {
    const ours = await pushing(trellis, { scratch, name: 'ours' })
    await call(trellis, 'extensions/promote', { name: 'ours' })
    const theirs = await pushing(trellis, { scratch, name: 'theirs' })
    const heard = () => {
      const line = Promise.withResolvers<void>()
      const tail = follow(trellis, 'events/tail?name=ours', ({ type, subject }) => {
        if (type !== 'run.queued') return
        const run = follow(trellis, `runs/${subject}/tail`, (event) => {
          if (event.type !== 'run.log') return
          line.resolve()
          run.close()
          tail.close()
        })
      })
      return { opened: tail.opened, line: line.promise }
    }
    const toLine = async () => {
      await ours.prepare()
      const { opened, line } = heard()
      await opened
      const began = performance.now()
      await Promise.all([ours.push(), line])
      return performance.now() - began
    }
    const plain = async () => {
      await theirs.prepare()
      const began = performance.now()
      await theirs.push()
      return performance.now() - began
    }
    await toLine()
    await plain()
    const times = await inTurns(ROUNDS, toLine, plain)
    return {
      work: 'a push, until the first line of the run it sets off is seen',
      peer: 'the same push, which sets nothing off, until it is done',
      ours: milliseconds(times.ours),
      theirs: milliseconds(times.theirs),
      ratio: times.theirs / times.ours,
    }
  } finally {
    await trellis.stop()
  }
}

/** A repository with the extension in it, and what pushes a small commit there. */
async function pushing(trellis: Trellis, { scratch, name }: { scratch: string; name: string }) {
  const remote = await createRepo(trellis, name)
  const changes = Object.entries(EXTENSION).map(([path, content]) => ({ op: 'put', path, content }))
  await call(trellis, 'git/commits/create', { name, branch: 'main', message: 'Add', changes })
  const dir = join(scratch, name)
  await git('clone', '--quiet', remote.url, dir)
  return {
    async prepare() {
      await writeFile(join(dir, 'pushed.txt'), randomBytes(20).toString('hex'))
      await git('-C', dir, 'add', 'pushed.txt')
      await git('-C', dir, 'commit', '--quiet', '--message', 'Push')
    },
    push: () => git('-C', dir, 'push', '--quiet', 'origin', 'HEAD:main'),
  }
}

/** Hears what is added to a log. */
function follow({ url, key }: Trellis, path: string, hear: (event: Told) => void) {
  const opened = Promise.withResolvers<void>()
  let text = ''
  const request = get(
    `${url}/api/v1/${path}`,
    { headers: { authorization: `Bearer ${key}` }, agent: false },
    (response) => {
      response.setEncoding('utf8').on('data', (piece: string) => {
        const frames = `${text}${piece}`.split('\n\n')
        text = frames.pop() ?? ''
        opened.resolve()
        for (const frame of frames) {
          const data = /^data: (.*)$/m.exec(frame)?.[1]
          if (data !== undefined) hear(JSON.parse(data) as Told)
        }
      })
    },
  ).on('error', opened.reject)
  return { opened: opened.promise, close: () => request.destroy() }
}
