import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { LogEvent, Run } from '@trellis/contract'
import { useState } from 'react'
import { shortRef } from '../../activity/words.ts'
import { tailPath } from '../../api/client.ts'
import { query, refresh } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { Status, Tag } from '../../ui/Status.tsx'
import { Duration, TimeAgo } from '../../ui/TimeAgo.tsx'
import { CauseChain } from './CauseChain.tsx'
import { JsonTree } from './JsonTree.tsx'
import { LogView } from './LogView.tsx'
import { CommitLink, WithPlaces } from './links.tsx'
import { useNow } from './now.ts'
import programs from './Programs.module.css'
import styles from './Run.module.css'
import { RunActions } from './RunActions.tsx'
import { createRunLog, isLast } from './run-log.ts'
import { useRunTail } from './run-tail.ts'
import { Steps } from './Steps.tsx'

/** One run: what became of it, as it happens. */
export function RunPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  // Another run is another page: nothing of the log of this one stays.
  return <OneRun key={id} id={id} />
}

function OneRun({ id }: { id: string }) {
  const { org, name, repo } = useRepo()
  const {
    data: { run },
  } = useSuspenseQuery(query(org, (api) => api.runs.get, { id }))
  const [log] = useState(createRunLog)
  const [first, setFirst] = useState<LogEvent>()
  const [isTold, setTold] = useState(false)
  useRunTail(isTold ? undefined : tailPath(org, `runs/${id}/tail`), (event) => {
    log.add(event)
    if (event.type === 'run.queued') setFirst(event)
    if (isLast(event)) setTold(true)
    if (event.type !== 'run.log' && run.endedAt === null) void refresh(org, 'runs/get', 'runs/steps')
  })
  const stack = useStack(run, log, isTold)
  const source = { org, repo: name, at: run.trigger === 'dispatch' ? run.commitSha : run.canonicalCommitSha }

  return (
    <Page title={`${run.extension} ${run.status} · ${org}/${name}`}>
      <PageHeader
        title={
          <span className={styles.title}>
            <Link to="/o/$org/$repo/extensions/$name" params={{ org, repo: name, name: run.extension }}>
              {run.extension}
            </Link>
            <Status kind={run.status} />
            <Took run={run} />
          </span>
        }
        about={
          <span className={styles.about}>
            <code>{run.id}</code>
            <span>
              <TimeAgo at={run.createdAt} />
            </span>
            <span>
              {run.commitSha && (
                <>
                  at <CommitLink org={org} repo={name} oid={run.commitSha} />{' '}
                </>
              )}
              <Tag>{run.ref === run.canonicalRef ? 'canonical' : shortRef(run.ref)}</Tag>
            </span>
          </span>
        }
      >
        {repo.canWrite && <RunActions org={org} name={name} run={run} />}
      </PageHeader>
      <CauseChain org={org} run={run} first={first} />
      {run.error && (
        <section className={styles.error} aria-label="Error">
          <strong>
            <WithPlaces {...source} text={run.error} />
          </strong>
          {stack && (
            <pre>
              <WithPlaces {...source} text={stack} />
            </pre>
          )}
        </section>
      )}
      {run.runtime === 'workflow' && <Steps org={org} run={run} />}
      <LogView log={log} from={run.createdAt} isLive={run.endedAt === null} source={source} />
      <div className={programs.columns}>
        <Section title="Output">
          {run.output !== undefined ? (
            <JsonTree label="Output" value={run.output} />
          ) : (
            <p className={programs.quiet}>
              {run.endedAt === null ? 'It has not ended yet.' : 'It gave nothing.'}
            </p>
          )}
        </Section>
        <Section title="Input">
          <JsonTree label="Input" value={run.input} />
        </Section>
      </div>
      <Facts run={run} />
    </Page>
  )
}

/** The stack of a run that failed: the last grave thing it said. */
function useStack(run: Run, log: ReturnType<typeof createRunLog>, isTold: boolean): string | undefined {
  if (!isTold || run.status !== 'failed') return undefined
  const last = log.lines.findLast(({ kind }) => kind === 'error')
  return last?.text.includes('\n') ? last.text : undefined
}

function Took({ run: { startedAt, endedAt } }: { run: Run }) {
  const now = useNow(startedAt !== null && endedAt === null ? 1_000 : undefined)
  if (startedAt === null) return null
  return (
    <span className={programs.dim}>
      <Duration ms={Math.max(0, (endedAt ?? Math.max(now, startedAt)) - startedAt)} />
    </span>
  )
}

const Facts = ({ run }: { run: Run }) => (
  <Section title="Details">
    <dl className={programs.facts}>
      <dt>Runtime</dt>
      <dd>{run.runtime}</dd>
      {run.exitCode !== null && (
        <>
          <dt>Exit code</dt>
          <dd>
            <code>{run.exitCode}</code>
          </dd>
        </>
      )}
      <dt>Could do</dt>
      <dd className={programs.chips}>
        {run.effectiveCapabilities.length === 0 && 'nothing beside answering'}
        {run.effectiveCapabilities.map((capability) => (
          <span key={capability} className={programs.chip}>
            {capability}
          </span>
        ))}
      </dd>
      <dt>Module</dt>
      <dd>
        <code>{run.executedModuleHash ?? 'none'}</code>
      </dd>
      {run.causationDepth ? (
        <>
          <dt>Runs before it</dt>
          <dd>{run.causationDepth}</dd>
        </>
      ) : null}
    </dl>
  </Section>
)
