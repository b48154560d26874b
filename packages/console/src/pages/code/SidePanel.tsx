import { Link } from '@tanstack/react-router'
import type { RepoOverview } from '@trellis/contract'
import type { ReactNode } from 'react'
import { useRepo } from '../../shell/places.ts'
import { Bytes } from '../../ui/Bytes.tsx'
import { Oid } from '../../ui/Code.tsx'
import { counted } from '../../ui/counted.ts'
import { Status, type StatusKind, Tag } from '../../ui/Status.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './SidePanel.module.css'

/** Beside the README: what runs in this repository, and how large it is. */
export function SidePanel({ overview }: { overview: RepoOverview }) {
  const { org, name } = useRepo()
  const params = { org, repo: name }
  const { repo, canonical, extensions, daemons, records, lastRuns } = overview
  return (
    <aside className={styles.panel} aria-label="About this repository">
      {extensions !== null && (
        <dl>
          <Fact name="Canonical">
            {canonical ? (
              <>
                <Link to="/o/$org/$repo/tree/$" params={{ ...params, _splat: canonical.oid }}>
                  <Oid>{canonical.oid}</Oid>
                </Link>{' '}
                {apartInWords(canonical, repo.defaultBranch)}
              </>
            ) : (
              'Nothing is promoted yet.'
            )}
            {canonical?.behind !== 0 && (
              <Link to="/o/$org/$repo/promote" params={params} search={{}} className={styles.way}>
                What promotion would change
              </Link>
            )}
          </Fact>
          <Fact name="In force">
            <Link to="/o/$org/$repo/extensions" params={params} search={{}}>
              {counted(extensions, 'extension')}
            </Link>
            {' · '}
            <Link to="/o/$org/$repo/daemons" params={params}>
              {counted(daemons?.total ?? 0, 'daemon')}
            </Link>
            {' · '}
            <Link to="/o/$org/$repo/records" params={params}>
              {counted(records ?? 0, 'record')}
            </Link>
            {daemons && daemons.quarantined > 0 && (
              <>
                {' '}
                <Tag tone="warned">{`${daemons.quarantined} quarantined`}</Tag>
              </>
            )}
          </Fact>
          <Fact name="Last runs">
            {lastRuns.length > 0 ? <LastRuns runs={lastRuns} params={params} /> : 'None yet.'}
          </Fact>
        </dl>
      )}
      <dl>
        <Fact name="Refs">
          <Link to="/o/$org/$repo/branches" params={params}>
            {counted(overview.branches, 'branch', 'branches')}
          </Link>
          {' · '}
          <Link to="/o/$org/$repo/tags" params={params}>
            {counted(overview.tags, 'tag')}
          </Link>
        </Fact>
        <Fact name="Size">
          <Bytes of={repo.sizeBytes} />
        </Fact>
        {repo.lastPushAt && (
          <Fact name="Last push">
            <TimeAgo at={repo.lastPushAt} />
          </Fact>
        )}
      </dl>
    </aside>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className={styles.fact}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

interface LastRunsProps {
  runs: RepoOverview['lastRuns']
  params: { org: string; repo: string }
}

const LastRuns = ({ runs, params }: LastRunsProps) => (
  <ul className={styles.runs}>
    {runs.map(({ id, extension, status }) => (
      <li key={id} title={`${extension}: ${status}`}>
        <Link to="/o/$org/$repo/runs/$id" params={{ ...params, id }}>
          <Status kind={status satisfies StatusKind} bare>{`${extension}: ${status}`}</Status>
        </Link>
      </li>
    ))}
  </ul>
)

function apartInWords(
  { ahead, behind }: { ahead: number | null; behind: number | null },
  branch: string,
): string {
  if (ahead === 0 && behind === 0) return `is ${branch}`
  if (ahead === null || behind === null) return `is far from ${branch}`
  const parts = [behind > 0 && `${behind} behind`, ahead > 0 && `${ahead} ahead of`].filter(Boolean)
  return `is ${parts.join(' and ')} ${branch}`
}
