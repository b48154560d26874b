import { queryOptions, useQuery } from '@tanstack/react-query'
import type { NumberedEvent } from '@trellis/contract'
import { inWords } from '../../activity/words.ts'
import { trellis } from '../../api/client.ts'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './People.module.css'

/** An agent makes few; those of one that made more are on their own pages. */
const MOST_REPOSITORIES = 10
const MOST_EVENTS = 30

interface Deed {
  event: NumberedEvent
  /** Undefined for what was done to the organization. */
  repo: string | undefined
}

/** What an agent did in its organization and the repositories there, the latest first. */
export function WhatItDid({ org, registrationId }: { org: string; registrationId: string }) {
  const { data } = useQuery(deedsQuery(org, registrationId))
  if (!data) return <Skeleton rows={3} />
  return (
    <section aria-label="What it did" className={styles.did}>
      {data.length === 0 && <p>Nothing lately.</p>}
      <ul>
        {data.map(({ event, repo }) => (
          <li key={event.id}>
            <span>
              {inWords(event)}
              {repo && repo !== event.subject && ` in ${repo}`}
            </span>
            <TimeAgo at={event.ts} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const deedsQuery = (org: string, actorId: string) =>
  queryOptions({
    queryKey: [org, 'events/', 'of', actorId],
    queryFn: async ({ signal }): Promise<Deed[]> => {
      const api = trellis(org)
      const { items } = await api.repos.list({ limit: MOST_REPOSITORIES }, { signal })
      const logs = await Promise.all(
        [undefined, ...items.map(({ name }) => name)].map(async (repo) => {
          const log = await api.events.list(
            { order: 'newest', limit: 100, ...(repo && { name: repo }) },
            { signal },
          )
          return log.items.map((event): Deed => ({ event, repo }))
        }),
      )
      return logs
        .flat()
        .filter(({ event }) => event.actor.id === actorId)
        .sort((a, b) => b.event.ts - a.event.ts)
        .slice(0, MOST_EVENTS)
    },
  })
