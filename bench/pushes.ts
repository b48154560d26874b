import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRepo, fastImport, git, maintained, type Remote, remoteAt, timeGit } from './git-stage.ts'
import { commits } from './histories.ts'
import { inTurns, type Row, timesRow } from './measure.ts'
import { type HttpBackend, runHttpBackend } from './peers/http-backend.ts'
import { runTrellis } from './processes.ts'
import { makeScratch } from './scratch.ts'

/** Each is five objects: the commit, three trees and a blob. */
const LARGE_COMMITS = Number(process.env.BENCH_PUSH_COMMITS ?? 8000)
const ROUNDS = 9

const pathOf = (random: () => number): string =>
  `folder-${random() % 12}/part-${random() % 20}/file-${random() % 12}.txt`

/** A whole history to a repository that has nothing yet, with every object checked by both. */
export async function largePush(): Promise<Row | undefined> {
  const peer = await runHttpBackend()
  if (!peer) return undefined
  const trellis = await runTrellis()
  const scratch = await makeScratch('push')
  try {
    const source = join(scratch, 'history.git')
    await fastImport(source, commits({ count: LARGE_COMMITS, pathOf, marks: 20 }))
    await git('-C', source, 'gc', '--quiet')
    let pushes = 0
    const push = ({ url }: Remote) => timeGit('-C', source, 'push', '--quiet', '--mirror', url)
    const ours = async () => {
      const time = await push(await createRepo(trellis, `large-${++pushes}`))
      // What goes on in the background is not to fall on the other.
      await maintained(trellis, pushes)
      return time
    }
    const theirs = async () => push(await createPeerRepo(peer, `large-${pushes}`))
    const times = await inTurns(ROUNDS, ours, theirs)
    const work = `git push of a history of ${5 * LARGE_COMMITS} objects`
    return timesRow(work, 'git http-backend with receive.fsckObjects', times, 0.83)
  } finally {
    await Promise.all([trellis.stop(), peer.stop()])
  }
}

async function createPeerRepo(peer: HttpBackend, name: string): Promise<Remote> {
  const dir = join(peer.repositories, `${name}.git`)
  await git('init', '--quiet', '--bare', '--initial-branch=main', dir)
  await git('-C', dir, 'config', 'http.receivepack', 'true')
  await git('-C', dir, 'config', 'receive.fsckObjects', 'true')
  return remoteAt(`${peer.url}/${name}.git`, peer.password)
}

/** One commit to a repository that has just been made, against one more to a repository that has some. */
export async function firstPush(): Promise<Row> {
  const trellis = await runTrellis()
  const scratch = await makeScratch('push')
  try {
    await git('init', '--quiet', '--initial-branch=main', scratch)
    const later = await createRepo(trellis, 'later')
    let commitCount = 0
    const pushing = async (url: string) => {
      await writeFile(join(scratch, 'file.txt'), `Line ${commitCount++}\n`)
      await git('-C', scratch, 'add', 'file.txt')
      await git('-C', scratch, 'commit', '--quiet', '--message', 'Change')
      return timeGit('-C', scratch, 'push', '--quiet', url, 'HEAD:main')
    }
    const first = async () => {
      // Without a history, so that both pushes are of three objects.
      await git('-C', scratch, 'checkout', '--quiet', '--orphan', `fresh-${commitCount}`)
      const time = await pushing((await createRepo(trellis, `first-${commitCount}`)).url)
      await git('-C', scratch, 'checkout', '--quiet', 'main')
      return time
    }
    await pushing(later.url)
    const times = await inTurns(31, first, () => pushing(later.url))
    return timesRow('first push to a new repository', 'a later one', times, 0.77)
  } finally {
    await trellis.stop()
  }
}
