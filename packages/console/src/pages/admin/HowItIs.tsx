import type { ReactNode } from 'react'
import type { Api } from '../../api/client.ts'
import { Bytes } from '../../ui/Bytes.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { Section } from '../../ui/Page.tsx'
import { Status } from '../../ui/Status.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Admin.module.css'

type Server = Awaited<ReturnType<Api['admin']['overview']>>

const number = new Intl.NumberFormat('en')
const counted = (of: number | null): string => (of === null ? 'not known' : number.format(of))
const sized = (of: number | null): ReactNode => (of === null ? 'not known' : <Bytes of={of} />)

/** Health first; then what it is made of, what it holds, and what waits. */
export const HowItIs = ({ server }: { server: Server }) => (
  <>
    <Health problems={server.problems} packs={server.packs} />
    <div className={styles.columns}>
      <Section title="Server">
        <Facts
          of={[
            ['Version', server.version],
            ['Started', <TimeAgo key="started" at={server.startedAt} />],
            ['Organizations', counted(server.counts.organizations)],
            ['Repositories', counted(server.counts.repositories)],
          ]}
        />
      </Section>
      <Section title="Storage">
        <Facts
          of={[
            ['Database', <Database key="database" of={server.database} />],
            ['Git objects', sized(server.disk.packBytes)],
            ['Disk', <Disk key="disk" of={server.disk} />],
          ]}
        />
      </Section>
      <Section title="At work">
        <Facts
          of={[
            [
              'Runs',
              `${counted(server.queues.runsRunning)} running, ${counted(server.queues.runsQueued)} queued`,
            ],
            ['Workflows asleep', counted(server.queues.runsSleeping)],
            ['Deliveries that wait', counted(server.queues.deliveriesPending)],
            [
              'Git',
              `${counted(server.queues.gitRunning)} at work, ${counted(server.queues.gitWaiting)} waiting`,
            ],
          ]}
        />
      </Section>
    </div>
    <Section title="Runtimes of extensions">
      <ul className={styles.runtimes}>
        {server.runtimes.map(({ name, enabled, reason }) => (
          <li key={name}>
            <strong>{name}</strong>
            <Status kind={enabled ? 'active' : 'off'}>{enabled ? 'on' : 'off'}</Status>
            {reason && <span>{reason}</span>}
          </li>
        ))}
      </ul>
    </Section>
  </>
)

function Health({ problems, packs }: Pick<Server, 'problems' | 'packs'>) {
  const missing = packs.missing ?? 0
  const damaged = packs.damaged ?? 0
  const all = [
    ...problems,
    ...(missing + damaged > 0 ? [`${missing} packs are missing, ${damaged} are damaged.`] : []),
  ]
  if (all.length === 0)
    return (
      <p>
        <Status kind="succeeded">Nothing stands in the way of its work</Status>
      </p>
    )
  return (
    <ul className={styles.problems} aria-label="Problems">
      {all.map((problem) => (
        <li key={problem}>
          <Status kind="failed">{problem}</Status>
        </li>
      ))}
    </ul>
  )
}

const Database = ({ of }: { of: Server['database'] }) => (
  <>
    {of.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, {sized(of.bytes)}
  </>
)

const Disk = ({ of }: { of: Server['disk'] }) => (
  <>
    {sized(of.freeBytes)} free of {sized(of.sizeBytes)}
  </>
)
