import type { RepoOverview } from '@trellis/contract'
import type { ReactNode } from 'react'
import { Bytes } from '../../ui/Bytes.tsx'
import { Oid } from '../../ui/Code.tsx'
import { Status, type StatusKind, Tag } from '../../ui/Status.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './SidePanel.module.css'

/** Beside the README: what runs in this repository, and how large it is. */
export function SidePanel({ overview }: { overview: RepoOverview }) {
  const { repo, canonical, extensions, daemons, records, lastRuns } = overview
  return (
    <aside className={styles.panel} aria-label="About this repository">
      {extensions !== null && (
        <dl>
          <Fact name="Canonical">
            {canonical ? (
              <>
                <Oid>{canonical.oid}</Oid> {apartInWords(canonical, repo.defaultBranch)}
              </>
            ) : (
              'Nothing is promoted yet.'
            )}
          </Fact>
          <Fact name="In force">
            {[
              count(extensions, 'extension'),
              count(daemons?.total ?? 0, 'daemon'),
              count(records ?? 0, 'record'),
            ].join(' · ')}
            {daemons && daemons.quarantined > 0 && (
              <>
                {' '}
                <Tag tone="warned">{`${daemons.quarantined} quarantined`}</Tag>
              </>
            )}
          </Fact>
          <Fact name="Last runs">{lastRuns.length > 0 ? <LastRuns runs={lastRuns} /> : 'None yet.'}</Fact>
        </dl>
      )}
      <dl>
        <Fact name="Refs">
          {count(overview.branches, 'branch', 'branches')} · {count(overview.tags, 'tag')}
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

const LastRuns = ({ runs }: { runs: RepoOverview['lastRuns'] }) => (
  <ul className={styles.runs}>
    {runs.map(({ id, extension, status }) => (
      <li key={id} title={`${extension}: ${status}`}>
        <Status kind={status satisfies StatusKind} bare>{`${extension}: ${status}`}</Status>
      </li>
    ))}
  </ul>
)

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`

function apartInWords(
  { ahead, behind }: { ahead: number | null; behind: number | null },
  branch: string,
): string {
  if (ahead === 0 && behind === 0) return `is ${branch}`
  if (ahead === null || behind === null) return `is far from ${branch}`
  const parts = [behind > 0 && `${behind} behind`, ahead > 0 && `${ahead} ahead of`].filter(Boolean)
  return `is ${parts.join(' and ')} ${branch}`
}
