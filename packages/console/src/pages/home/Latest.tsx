import { useQueries, useQuery } from '@tanstack/react-query'
import type { NumberedEvent, Repo } from '@trellis/contract'
import { useActorName } from '../../activity/actors.ts'
import { inWords } from '../../activity/words.ts'
import { query, useList } from '../../api/queries.ts'
import { Section } from '../../ui/Page.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Home.module.css'
import { listed } from './Repositories.tsx'

const MOST = 15
/** Each has a log of its own: those are read that were made or pushed to last. */
const MOST_REPOSITORIES = 5

/** What is worth telling of a repository; runs tell of themselves by how they end. */
const TOLD = [
  ...['git.push', 'git.branch.deleted', 'git.tag.created', 'git.tag.deleted'],
  ...['run.succeeded', 'run.failed', 'run.cancelled', 'run.rejected', 'extension.promoted'],
  ...['daemon.quarantined', 'webhook.disabled', 'repo.created', 'repo.imported', 'repo.updated'],
]

interface Told {
  event: NumberedEvent
  /** Undefined for what happened to the organization. */
  repo: string | undefined
}

/** What happened in an organization and its repositories lately. */
export function Latest({ org }: { org: string }) {
  const nameOf = useActorName(org)
  const { latest, isPending } = useLatest(org)
  return (
    <Section title="Latest activity">
      {isPending ? (
        <Skeleton rows={4} />
      ) : latest.length > 0 ? (
        <ul className={styles.latest}>
          {latest.map(({ event, repo }) => (
            <li key={event.id}>
              <span>
                {inWords(event, nameOf)}
                {repo && repo !== event.subject && ` in ${repo}`}
              </span>
              <span className={styles.by}>
                {nameOf(event.actor)} · <TimeAgo at={event.ts} />
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <p className={styles.quiet}>Nothing has happened yet.</p>
      )}
    </Section>
  )
}

function useLatest(org: string): { latest: Told[]; isPending: boolean } {
  const own = useQuery(query(org, (api) => api.events.list, { order: 'newest', limit: MOST }))
  const repos = useList(org, (api) => api.repos.list, listed)
  const names = busiest(repos.items)
  const logs = useQueries({
    queries: names.map((name) =>
      query(org, (api) => api.events.list, { name, types: TOLD, order: 'newest', limit: MOST }),
    ),
  })
  const told = (items: readonly NumberedEvent[] = [], repo?: string) =>
    items.map((event): Told => ({ event, repo }))
  const latest = [...told(own.data?.items), ...logs.flatMap(({ data }, i) => told(data?.items, names[i]))]
    .sort((a, b) => b.event.ts - a.event.ts)
    .slice(0, MOST)
  return { latest, isPending: [own, repos, ...logs].some(({ isPending }) => isPending) }
}

const busiest = (repos: readonly Repo[]): string[] =>
  repos
    .toSorted((a, b) => lastMoved(b) - lastMoved(a))
    .slice(0, MOST_REPOSITORIES)
    .map(({ name }) => name)

const lastMoved = ({ lastPushAt, createdAt }: Repo): number =>
  lastPushAt ? Date.parse(lastPushAt) : createdAt
