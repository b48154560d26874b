// Questions about commits and their ancestors.

import { excluding, type Oid, parseOid, symmetricRange, type TreePath } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'
import type { Commit } from './format.ts'
import { withObjects } from './reader.ts'

export interface ListedCommit extends Commit {
  oid: Oid
}

interface CommitQuery {
  from: Oid
  /** Leave out what is reachable from here. */
  notIn?: Oid
  /** Only commits that change this path. */
  path?: TreePath
  /** How many commits, counted from `from`, came before this page; history below `from` never changes. */
  skip?: number
  limit: number
}

/** Newest first. `more` says whether another page follows. */
export async function listCommits(
  repo: OpenRepo,
  query: CommitQuery,
): Promise<{ commits: ListedCommit[]; more: boolean }> {
  const oids = await listCommitOids(repo, { ...query, limit: query.limit + 1 })
  const page = oids.slice(0, query.limit)
  const more = oids.length > page.length
  if (page.length === 0) return { commits: [], more }
  return withObjects(repo, async (objects) => {
    const commits = await Promise.all(
      page.map(async (oid) => {
        const commit = await objects.findCommit(oid)
        return commit ? [{ oid, ...commit }] : []
      }),
    )
    return { commits: commits.flat(), more }
  })
}

async function listCommitOids(repo: OpenRepo, query: CommitQuery): Promise<Oid[]> {
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
