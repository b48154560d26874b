// Questions about commits and their ancestors, as git answers them. What is near is found without it: see walk/.

import { excluding, type Oid, parseOid, symmetricRange, type TreePath } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import type { Commit } from './format.ts'
import type { ObjectReader } from './reader.ts'

export interface ListedCommit extends Commit {
  oid: Oid
}

interface CommitQuery {
  from: Oid
  /** Leave out what is reachable from here. */
  notIn?: Oid
  /** Only commits that change this path. */
  path?: TreePath
  /** How many, counted from `from`, are left out; history below `from` never changes. */
  skip?: number
  limit: number
}

/** Of all commits of one answer, in characters. Each may have a mebibyte. */
const MAX_READ = 8 * 1024 * 1024
const READ_AT_ONCE = 16

/**
 * In their order; what is not there is left out. Of much it gives the first ones, at least some, and says how many it has
 * come to.
 */
export async function readCommits(
  objects: Pick<ObjectReader, 'findCommit'>,
  oids: readonly Oid[],
): Promise<{ commits: ListedCommit[]; read: number }> {
  const commits: ListedCommit[] = []
  let left = MAX_READ
  let read = 0
  while (read < oids.length && left > 0) {
    const some = oids.slice(read, read + READ_AT_ONCE)
    const found = await Promise.all(some.map((oid) => objects.findCommit(oid)))
    for (const [i, commit] of found.entries()) {
      const oid = some[i]
      if (left <= 0 || !oid) break
      read++
      if (!commit) continue
      commits.push({ oid, ...commit })
      left -= commit.message.length + commit.parents.length * oid.length
    }
  }
  return { commits, read }
}

/** Newest first. */
export async function listCommitOids(repo: OpenRepo, query: CommitQuery): Promise<Oid[]> {
  const { from, notIn, path, skip = 0, limit } = query
  const { stdout } = await repo.run({
    verb: 'rev-list',
    options: [`--skip=${skip}`, `--max-count=${limit}`],
    values: notIn ? [from, excluding(notIn)] : [from],
    ...(path && { paths: [path] }),
  })
  return oidLines(stdout)
}

/** Whether `of` has everything that `ancestor` has. */
export async function isAncestor(repo: OpenRepo, ancestor: Oid, of: Oid): Promise<boolean> {
  const { exitCode } = await repo.run({
    verb: 'merge-base',
    options: ['--is-ancestor'],
    values: [ancestor, of],
    accept: [0, 1],
  })
  return exitCode === 0
}

/** The best common ancestors; none when the histories are unrelated. */
export async function findMergeBases(repo: OpenRepo, a: Oid, b: Oid): Promise<Oid[]> {
  const { stdout } = await repo.run({
    verb: 'merge-base',
    options: ['--all'],
    values: [a, b],
    accept: [0, 1],
  })
  return oidLines(stdout)
}

/** How many commits `head` has that `base` has not, and the other way round. */
export async function countAheadBehind(
  repo: OpenRepo,
  base: Oid,
  head: Oid,
): Promise<{ ahead: number; behind: number }> {
  const { stdout } = await repo.run({
    verb: 'rev-list',
    options: ['--left-right', '--count'],
    values: [symmetricRange(base, head)],
  })
  const [behind = 0, ahead = 0] = stdout.toString().trim().split('\t').map(Number)
  return { ahead, behind }
}

function oidLines(stdout: Buffer): Oid[] {
  const lines = stdout.toString('latin1').split('\n')
  return lines.map(parseOid).filter((oid) => oid !== undefined)
}
