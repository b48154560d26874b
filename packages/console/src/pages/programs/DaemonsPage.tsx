import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Daemon } from '@trellis/contract'
import { tailPath } from '../../api/client.ts'
import { query, refresh, useAction } from '../../api/queries.ts'
import { useTail } from '../../api/tails.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Command } from '../../ui/Code.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Status, Tag } from '../../ui/Status.tsx'
import { Duration, TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Daemons.module.css'
import { useNow } from './now.ts'
import programs from './Programs.module.css'
import { RunProblem } from './ProgramsProblem.tsx'
import { everyWords } from './words.ts'

const LOOK_MS = 30_000
/** The clock looks now and then: less is on time. */
const LATE_MS = 90_000

/** What is woken by the clock, and how it has fared. */
export function DaemonsPage() {
  const { org, name, repo } = useRepo()
  const { data } = useSuspenseQuery({
    ...query(org, (api) => api.daemons.list, { name }),
    refetchInterval: LOOK_MS,
  })
  useTail(tailPath(org, 'events/tail', { name }), ({ type }: { type: string }) => {
    const isAboutDaemons = type.startsWith('daemon.') || /^run\.(succeeded|failed|cancelled)$/.test(type)
    if (isAboutDaemons) void refresh(org, 'daemons/')
  })
  return (
    <Page title={`Daemons · ${org}/${name}`}>
      <PageHeader
        title="Daemons"
        about="Extensions that are woken by the clock, and by events if they like."
      />
      {data.items.length === 0 ? (
        <NoDaemons />
      ) : (
        <ul className={styles.list} aria-label="Daemons">
          {data.items.map((daemon) => (
            <li key={daemon.name}>
              <OneDaemon org={org} name={name} daemon={daemon} mayChange={repo.canAdmin} />
            </li>
          ))}
        </ul>
      )}
    </Page>
  )
}

interface OneDaemonProps {
  org: string
  name: string
  daemon: Daemon
  mayChange: boolean
}

function OneDaemon({ org, name, daemon, mayChange }: OneDaemonProps) {
  const { api } = useRepo()
  const changes = { org, paths: ['daemons/', 'runs/list', 'extensions/'] }
  const wake = useAction(() => api.daemons.wake({ name, daemon: daemon.name }), { done: 'Woken', changes })
  const resume = useAction(() => api.daemons.resume({ name, daemon: daemon.name }), {
    done: 'Resumed',
    changes,
  })
  const isQuarantined = daemon.status === 'quarantined'
  return (
    <article className={styles.daemon} aria-label={daemon.name}>
      <header className={styles.head}>
        <h2>
          <Link to="/o/$org/$repo/extensions/$name" params={{ org, repo: name, name: daemon.name }}>
            {daemon.name}
          </Link>
        </h2>
        <Status kind={daemon.status} />
        {mayChange && (
          <span className={styles.actions}>
            {isQuarantined ? (
              <Button small kind="first" busy={resume.busy} onClick={() => resume.run(undefined)}>
                Resume
              </Button>
            ) : (
              <Button small busy={wake.busy} onClick={() => wake.run(undefined)}>
                Wake now
              </Button>
            )}
          </span>
        )}
      </header>
      {isQuarantined && <Quarantine daemon={daemon} />}
      <dl className={programs.facts}>
        <dt>Next wake</dt>
        <dd>
          <NextWake daemon={daemon} />
        </dd>
        <dt>Woken</dt>
        <dd>
          {everyWords(daemon.scheduleIntervalMinutes)}
          {daemon.onEventTypes && (
            <>
              {' and by '}
              {daemon.onEventTypes.map((type) => (
                <span key={type} className={`${programs.chip} ${styles.type}`}>
                  {type}
                </span>
              ))}
            </>
          )}
        </dd>
        <dt>Last wake</dt>
        <dd>
          <LastWake org={org} name={name} daemon={daemon} />
        </dd>
        {daemon.pendingEventCount > 0 && (
          <>
            <dt>Events waiting</dt>
            <dd>{daemon.pendingEventCount.toLocaleString('en')}</dd>
          </>
        )}
      </dl>
      <RunProblem of={wake.error ? wake : resume} />
    </article>
  )
}

const Quarantine = ({ daemon }: { daemon: Daemon }) => (
  <p className={programs.new}>
    <strong>
      {daemon.failures} {daemon.failures === 1 ? 'wake' : 'wakes'} in a row failed.
    </strong>{' '}
    {daemon.lastWakeDetail && <code>{daemon.lastWakeDetail}</code>} It is left alone
    {daemon.quarantinedUntil !== null && (
      <>
        {' '}
        and tried again <TimeAgo at={daemon.quarantinedUntil} />
      </>
    )}
    . Resume it once what went wrong is repaired; a promotion of another module does so, too.
  </p>
)

function NextWake({ daemon: { nextWakeAt } }: { daemon: Daemon }) {
  const now = useNow(LOOK_MS)
  if (nextWakeAt === null) return <>not planned</>
  const late = now - nextWakeAt
  return (
    <>
      <TimeAgo at={nextWakeAt} />{' '}
      {late > LATE_MS && (
        <Tag tone="warned">
          <Duration ms={late} /> late
        </Tag>
      )}
    </>
  )
}

const OUTCOMES: Record<string, string> = {
  dispatched: 'is under way',
  skipped_running: 'passed over: the one before was still under way',
  skipped_quarantined: 'passed over: it was in quarantine',
  rejected: 'could not be',
}

function LastWake({ org, name, daemon }: { org: string; name: string; daemon: Daemon }) {
  const { lastWakeAt, lastWakeOutcome, lastWakeDetail, lastRun } = daemon
  if (lastWakeAt === null) return <>never</>
  return (
    <span className={programs.inline}>
      <TimeAgo at={lastWakeAt} />
      {lastWakeOutcome === 'succeeded' || lastWakeOutcome === 'failed' ? (
        <Status kind={lastWakeOutcome} />
      ) : (
        (OUTCOMES[lastWakeOutcome ?? ''] ?? lastWakeOutcome)
      )}
      {lastWakeDetail && daemon.status === 'active' && <span className={programs.dim}>{lastWakeDetail}</span>}
      {lastRun && (
        <Link to="/o/$org/$repo/runs/$id" params={{ org, repo: name, id: lastRun.id }}>
          See its last run
        </Link>
      )}
    </span>
  )
}

const NoDaemons = () => (
  <EmptyState title="Nothing is woken by the clock here">
    <p>
      An extension becomes a daemon with one key more in its <code>extension.json</code>. Push it, and
      promote:
    </p>
    <Command>{'"daemon": { "scheduleIntervalMinutes": 60, "onEventTypes": ["record.created"] }'}</Command>
    <p>
      It is then woken every hour, and after those events. Its input says why, and which events it has not
      been told of.
    </p>
  </EmptyState>
)
