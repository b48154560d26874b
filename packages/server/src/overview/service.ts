import type { Daemon, RepoOverview } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { summarize } from '../code/commit-summaries.ts'
import type { Distances } from '../code/distances.ts'
import type { Repositories } from '../code/repositories.ts'
import type { ExtensionsService } from '../extensions/service.ts'
import type { Oid } from '../git/names.ts'
import { ObjectMissing } from '../git/objects/reader.ts'
import type { RefList } from '../git/protocol/advertisement.ts'
import type { RecordsService } from '../records/service.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { RunsService } from '../runs/service.ts'

export interface OverviewDeps {
  repos: ReposService
  repositories: Repositories
  distances: Distances
  /** These are undefined where they are switched off. */
  extensions: ExtensionsService | undefined
  records: RecordsService | undefined
  runs: RunsService | undefined
  daemonsOf(repoId: string): Promise<Daemon[]>
}

const LAST_RUNS = 5

export type OverviewService = ReturnType<typeof createOverviewService>

/** What is on the front page of a repository, out of all that it consists of. */
export function createOverviewService(deps: OverviewDeps) {
  const { repos, repositories, distances, extensions, records, runs } = deps

  async function commitsOf(
    repo: RepoRow,
    { head, canonical }: { head: Oid | null; canonical: Oid | undefined },
    signal: AbortSignal,
  ): Promise<Pick<RepoOverview, 'head' | 'canonical'>> {
    if (!head) return { head: null, canonical: canonical ? { oid: canonical, ...unknown } : null }
    return repositories.withObjects(repo, signal, async (objects) => {
      const commit = await objects.findCommit(head)
      if (!commit) throw new ObjectMissing(head)
      const tips = canonical ? [canonical] : []
      const apart = await distances.from(objects, { base: head, tips }, signal)
      return {
        head: summarize({ oid: head, ...commit }),
        canonical: canonical ? { oid: canonical, ...unknown, ...apart.get(canonical) } : null,
      }
    })
  }

  async function daemonsIn(repo: RepoRow): Promise<RepoOverview['daemons']> {
    if (!runs) return null
    const daemons = await deps.daemonsOf(repo.id)
    const quarantined = daemons.filter(({ status }) => status === 'quarantined').length
    return { total: daemons.length, quarantined }
  }

  return {
    async read(caller: Caller, { name }: { name: string }, signal: AbortSignal): Promise<RepoOverview> {
      const repo = await repos.open(caller, name, 'repo:read')
      const list = await repositories.refList(repo)
      const canonical = await extensions?.countCanonical(repo)
      const latest = (await runs?.listLatest(repo, LAST_RUNS)) ?? []
      return {
        repo: repos.presenterFor(caller)(repo),
        branches: countBelow(list, 'refs/heads/'),
        tags: countBelow(list, 'refs/tags/'),
        ...(await commitsOf(repo, { head: list.headOid, canonical: canonical?.commit as Oid }, signal)),
        extensions: extensions ? (canonical?.extensions ?? 0) : null,
        records: records ? await records.countCollections(repo) : null,
        daemons: await daemonsIn(repo),
        lastRuns: latest.map(({ trigger_kind: trigger, created_at, ended_at, ...run }) => ({
          ...run,
          trigger,
          createdAt: created_at,
          endedAt: ended_at,
        })),
      }
    },
  }
}

const unknown = { ahead: null, behind: null }

function countBelow({ refs }: RefList, prefix: string): number {
  let count = 0
  for (const { from, to } of refs.below(prefix)) count += to - from
  return count
}
