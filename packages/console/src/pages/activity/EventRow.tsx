import { Link } from '@tanstack/react-router'
import type { NumberedEvent } from '@trellis/contract'
import { useState } from 'react'
import { inWords } from '../../activity/words.ts'
import { Icon } from '../../ui/Icon.tsx'
import styles from './Activity.module.css'
import { EventDetails } from './EventDetails.tsx'
import { idOf } from './EventLog.tsx'
import { aboutOf } from './links.ts'

interface EventRowProps {
  event: NumberedEvent
  org: string
  repo: string | undefined
  nameOf: (actor: NumberedEvent['actor']) => string
  onOnly: (only: { types?: string; actor?: string }) => void
  /** Whether it begins with all of it to be seen. */
  opened?: boolean
}

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** An event in a sentence; all of it when it is opened. */
export function EventRow({ event, org, repo, nameOf, onOnly, opened = false }: EventRowProps) {
  const [isOpen, setOpen] = useState(opened)
  const words = inWords(event, nameOf)
  const about = aboutOf(event, org, repo)
  const who = nameOf(event.actor)
  return (
    <article className={styles.event} aria-label={words}>
      <div className={styles.line}>
        <button
          type="button"
          className={styles.open}
          aria-expanded={isOpen}
          aria-label={`Details of #${event.seq}`}
          onClick={() => setOpen(!isOpen)}
        >
          <span className={isOpen ? styles.turned : undefined}>
            <Icon name="open" />
          </span>
        </button>
        <time
          className={styles.time}
          dateTime={new Date(event.ts).toISOString()}
          title={exact.format(event.ts)}
        >
          {clock.format(event.ts)}
        </time>
        <span className={styles.words}>
          {about ? (
            <Link {...about} className={styles.about}>
              {words}
            </Link>
          ) : (
            words
          )}{' '}
          <button
            type="button"
            className={styles.who}
            title={`Only what ${who} did`}
            onClick={() => onOnly({ actor: idOf(event.actor) })}
          >
            {who}
          </button>
        </span>
        <button
          type="button"
          className={styles.type}
          title={`Only ${event.type}`}
          onClick={() => onOnly({ types: event.type })}
        >
          {event.type}
        </button>
      </div>
      {isOpen && <EventDetails event={event} org={org} repo={repo} who={who} />}
    </article>
  )
}
