import { useQuery } from '@tanstack/react-query'
import type { NumberedEvent } from '@trellis/contract'
import { useActorName } from '../../activity/actors.ts'
import { inWords } from '../../activity/words.ts'
import { query } from '../../api/queries.ts'
import { Section } from '../../ui/Page.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Home.module.css'

/** What happened in an organization lately. */
export function Latest({ org }: { org: string }) {
  const nameOf = useActorName(org)
  const { data, isPending } = useQuery(query(org, (api) => api.events.list, { order: 'newest', limit: 15 }))
  return (
    <Section title="Latest activity">
      {isPending ? (
        <Skeleton rows={4} />
      ) : data?.items.length ? (
        <ul className={styles.latest}>
          {data.items.map((event) => (
            <Entry key={event.id} event={event} by={nameOf(event.actor)} />
          ))}
        </ul>
      ) : (
        <p className={styles.quiet}>Nothing has happened yet.</p>
      )}
    </Section>
  )
}

const Entry = ({ event, by }: { event: NumberedEvent; by: string }) => (
  <li>
    <span>{inWords(event)}</span>
    <span className={styles.by}>
      {by} · <TimeAgo at={event.ts} />
    </span>
  </li>
)
