import { Link } from '@tanstack/react-router'
import type { NumberedEvent } from '@trellis/contract'
import type { ReactNode } from 'react'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { JsonTree } from '../programs/JsonTree.tsx'
import styles from './Activity.module.css'
import { runLink } from './links.ts'

interface EventDetailsProps {
  event: NumberedEvent
  org: string
  repo: string | undefined
  who: string
}

/** Where an event stands, what it carries, and why it happened. */
export function EventDetails({ event, org, repo, who }: EventDetailsProps) {
  const { payload, cause, subject, credentialId } = event
  const parts =
    typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? Object.entries(payload) : []
  return (
    <div className={styles.details}>
      <dl className={styles.facts}>
        <Fact name="Event">
          #{event.seq} <code>{event.id}</code>
        </Fact>
        <Fact name="When">
          <TimeAgo at={event.ts} />
        </Fact>
        <Fact name="Who">
          {who} <code>{`${event.actor.kind}:${event.actor.id}`}</code>
          {credentialId && (
            <>
              {' '}
              with <code>{credentialId}</code>
            </>
          )}
        </Fact>
        {subject && (
          <Fact name="About">
            <code>{subject}</code>
          </Fact>
        )}
        {cause && (
          <Fact name="Why">
            <Chain cause={cause} org={org} repo={repo} />
          </Fact>
        )}
        {parts.map(([name, value]) => (
          <Fact key={name} name={name} isOfPayload>
            <Part name={name} value={value} />
          </Fact>
        ))}
        {payload !== undefined && parts.length === 0 && (
          <Fact name="payload" isOfPayload>
            <Part name="payload" value={payload} />
          </Fact>
        )}
      </dl>
    </div>
  )
}

const Fact = ({
  name,
  isOfPayload = false,
  children,
}: {
  name: string
  isOfPayload?: boolean
  children: ReactNode
}) => (
  <>
    <dt className={isOfPayload ? styles.key : undefined}>{name}</dt>
    <dd>{children}</dd>
  </>
)

const FEW = 12

/** A part of a payload as it is read best: words for what is single, a list for some, a frame for what is deep. */
function Part({ name, value }: { name: string; value: unknown }): ReactNode {
  if (value === null || value === undefined) return <span className={styles.quiet}>nothing</span>
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number')
    return /At$|^until$/.test(name) && value > 1e11 ? <TimeAgo at={value} /> : value.toLocaleString('en')
  if (typeof value === 'string') return <code>{value}</code>
  const isFlat = Array.isArray(value) && value.every((one) => typeof one !== 'object')
  if (isFlat && value.length === 0) return <span className={styles.quiet}>none</span>
  if (isFlat)
    return (
      <>
        {value.slice(0, FEW).map((one) => (
          <code key={String(one)} className={styles.item}>
            {String(one)}
          </code>
        ))}
        {value.length > FEW && `and ${value.length - FEW} more`}
      </>
    )
  return <JsonTree label={name} value={value} />
}

interface ChainProps {
  cause: NonNullable<NumberedEvent['cause']>
  org: string
  repo: string | undefined
}

/** From what came first to what led here. */
function Chain({ cause: { rootEventId, eventId, chain, runId }, org, repo }: ChainProps) {
  const runs = chain.length > 0 ? chain : [runId]
  const first = rootEventId ?? eventId
  return (
    <ol className={styles.chain} aria-label="What led to it">
      {first && (
        <li>
          {repo ? (
            <Link to="/o/$org/$repo/activity" params={{ org, repo }} search={{ event: first }} title={first}>
              the event that began it
            </Link>
          ) : (
            <code>{first}</code>
          )}
        </li>
      )}
      {runs.map((id) => (
        <li key={id}>
          {repo ? (
            <Link {...runLink(org, repo, id)}>
              <code>{id}</code>
            </Link>
          ) : (
            <code>{id}</code>
          )}
        </li>
      ))}
      <li>this</li>
    </ol>
  )
}
