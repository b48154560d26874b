import { useQuery } from '@tanstack/react-query'
import type { Run, RunStep } from '@trellis/contract'
import { query } from '../../api/queries.ts'
import { Section } from '../../ui/Page.tsx'
import { reachable } from '../../ui/reachable.ts'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Status, type StatusKind } from '../../ui/Status.tsx'
import { Duration, TimeAgo } from '../../ui/TimeAgo.tsx'
import { useNow } from './now.ts'
import styles from './Steps.module.css'
import { createScale } from './time-scale.ts'

/** How often those of a run that goes on are asked for: while one is at work, and while all wait. */
const LOOK_MS = 1_000
const LOOK_AT_SLEEPERS_MS = 5_000

/** What the steps of a workflow came to, on a time line. */
export function Steps({ org, run }: { org: string; run: Run }) {
  const isOver = run.endedAt !== null
  const { data, isPending } = useQuery({
    ...query(org, (api) => api.runs.steps, { id: run.id }),
    refetchInterval: ({ state: { data } }) => {
      const isAsleep = data?.items.at(-1)?.state === 'waiting'
      return isOver ? false : isAsleep ? LOOK_AT_SLEEPERS_MS : LOOK_MS
    },
  })
  return (
    <Section title="Steps">
      {isPending ? (
        <Skeleton rows={3} />
      ) : data?.items.length ? (
        <TimeLine run={run} steps={data.items} />
      ) : (
        <p className={styles.quiet}>{isOver ? 'It has taken no step.' : 'It has not come to a step yet.'}</p>
      )}
    </Section>
  )
}

function TimeLine({ run, steps }: { run: Run; steps: RunStep[] }) {
  const now = useNow(run.endedAt === null ? LOOK_MS : undefined)
  const end = run.endedAt ?? now
  const begin = run.startedAt ?? run.createdAt
  const spans = steps.map((step) => ({
    step,
    from: step.begunAt ?? begin,
    to: step.endedAt ?? Math.max(end, step.begunAt ?? begin),
  }))
  const scale = createScale([begin, end, ...spans.flatMap(({ from, to }) => [from, to])])
  return (
    <section className={styles.frame} aria-label="Time line" {...reachable}>
      <table className={styles.steps} aria-label="Steps">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">What it does</th>
            <th scope="col" className={styles.wide}>
              When
            </th>
            <th scope="col">Took</th>
          </tr>
        </thead>
        <tbody>
          {spans.map(({ step, from, to }) => (
            <tr key={step.step}>
              <th scope="row">
                <Status kind={LOOKS[step.state]} bare /> {step.name}
              </th>
              <td>
                <What step={step} isOver={run.endedAt !== null} />
              </td>
              <td>
                <svg
                  className={styles.line}
                  viewBox="0 0 1000 16"
                  preserveAspectRatio="none"
                  aria-hidden="true"
                >
                  <rect className={styles.ground} x={0} y={7.5} width={1000} height={1} />
                  <rect
                    className={styles[shadeOf(step)]}
                    x={scale(from)}
                    y={step.kind === 'do' ? 2 : 5}
                    width={Math.max(4, scale(to) - scale(from))}
                    height={step.kind === 'do' ? 12 : 6}
                    rx={2}
                  />
                </svg>
              </td>
              <td className={styles.took}>
                <Duration ms={to - from} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const LOOKS: Record<RunStep['state'], StatusKind> = {
  done: 'succeeded',
  failed: 'failed',
  running: 'running',
  waiting: 'queued',
}

const shadeOf = ({ kind, state }: RunStep): 'waits' | 'failed' | 'done' | 'running' =>
  kind !== 'do' || state === 'waiting' ? 'waits' : state

function What({ step, isOver }: { step: RunStep; isOver: boolean }) {
  const { kind, state, attempt, dueAt, waitsFor, error } = step
  const attempts = attempt > 1 ? `, attempt ${attempt}` : ''
  const goesOn = state === 'waiting' && dueAt !== null && !isOver
  if (kind === 'do')
    return (
      <>
        {state === 'waiting' ? `tried again` : 'step'}
        {attempts}
        {goesOn && (
          <>
            {' '}
            <TimeAgo at={dueAt} />
          </>
        )}
        {error && <span className={styles.error}>{error}</span>}
      </>
    )
  return (
    <>
      {waitsFor ? (
        <>
          waits for <code>{[waitsFor.type, waitsFor.subject].filter(Boolean).join(' ')}</code>
        </>
      ) : (
        'sleeps'
      )}
      {goesOn && (
        <>
          {waitsFor ? ', at the longest until ' : ', goes on '}
          <TimeAgo at={dueAt} />
        </>
      )}
    </>
  )
}
