import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import type { ExtensionDetail } from '@trellis/contract'
import { isApiError } from '../../api/errors.ts'
import { query, useList } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Bytes } from '../../ui/Bytes.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { PowerList } from './Capabilities.tsx'
import { DispatchForm } from './DispatchForm.tsx'
import { State } from './ExtensionsTable.tsx'
import { CommitLink, FileLink } from './links.tsx'
import styles from './Programs.module.css'
import { RuntimeAdvice } from './ProgramsProblem.tsx'
import { RefSelect } from './RefSelect.tsx'
import { RunsTable } from './RunsTable.tsx'
import { SchemaView } from './SchemaView.tsx'
import type { JsonSchema } from './schema-shape.ts'
import { daemonMinutes, everyWords, triggerWords } from './words.ts'

const LAST_RUNS = 10

/** One extension at a ref: what it is, what it may do, what it did; and it can be run. */
export function ExtensionPage() {
  const { org, name: repo, repo: repository } = useRepo()
  const { name: wanted = '' } = useParams({ strict: false }) as { name?: string }
  const { ref, from } = useSearch({ strict: false }) as { ref?: string; from?: string }
  const { data: entry } = useSuspenseQuery(
    query(org, (api) => api.extensions.get, { name: repo, extension: wanted, ...(ref && { ref }) }),
  )
  const at = entry.commitSha ?? ref ?? repository.defaultBranch
  return (
    <Page title={`${entry.name} · ${org}/${repo}`}>
      <PageHeader
        title={
          <span className={styles.inline}>
            {entry.name} <State entry={entry} />
          </span>
        }
        about={entry.description}
      >
        <RefSelect
          key={ref}
          current={ref ?? repository.defaultBranch}
          canonicalRef={entry.canonicalDescriptorHash === null ? undefined : 'refs/trellis/canonical'}
        />
      </PageHeader>
      <div className={styles.sided}>
        <div className={styles.stack}>
          <Section title="Run">
            <Runner key={`${ref} ${from}`} org={org} repo={repo} entry={entry} ref_={ref} from={from} />
          </Section>
          {entry.inputSchema && (
            <Section title="Input">
              <SchemaView label="Input" schema={entry.inputSchema as JsonSchema} />
            </Section>
          )}
          {entry.outputSchema && (
            <Section title="Output">
              <SchemaView label="Output" schema={entry.outputSchema as JsonSchema} />
            </Section>
          )}
        </div>
        <div className={styles.stack}>
          <Section title="What it may do">
            <PowerList entry={entry} />
          </Section>
          <Section title="Details">
            <Facts org={org} repo={repo} at={at} entry={entry} />
          </Section>
        </div>
      </div>
      <LastRuns org={org} repo={repo} extension={entry.name} />
    </Page>
  )
}

interface RunnerProps {
  org: string
  repo: string
  entry: ExtensionDetail
  ref_: string | undefined
  /** The run whose input stands in the form. */
  from: string | undefined
}

function Runner({ org, repo, entry, ref_, from }: RunnerProps) {
  const { repo: repository } = useRepo()
  const { data, isLoading } = useQuery({
    ...query(org, (api) => api.runs.get, { id: from ?? '' }),
    enabled: from !== undefined,
    // Its run may be gone: then the form is as ever.
    throwOnError: (error) => !isApiError(error, 'RUN_NOT_FOUND'),
  })
  if (!entry.dispatch)
    return (
      <p className={styles.quiet}>
        It is not run on request. With <code>"dispatch": true</code> in its descriptor it would be.
      </p>
    )
  if (!entry.dispatchable)
    return (
      <EmptyState title={`The ${entry.runtime} runtime is off`}>
        <RuntimeAdvice runtime={entry.runtime} />
      </EmptyState>
    )
  if (!repository.canWrite)
    return <p className={styles.quiet}>You can read this repository. To run something takes write access.</p>
  if (isLoading) return <Skeleton rows={3} />
  return (
    <>
      {!entry.canonical && (
        <p className={styles.quiet}>
          This runs what is at <code>{ref_ ?? repository.defaultBranch}</code>, with what it was granted
          already.
        </p>
      )}
      <DispatchForm
        org={org}
        name={repo}
        extension={entry}
        ref_={entry.canonical ? undefined : (ref_ ?? repository.defaultBranch)}
        {...(data && { input: data.run.input })}
      />
    </>
  )
}

interface FactsProps {
  org: string
  repo: string
  at: string
  entry: ExtensionDetail
}

function Facts({ org, repo, at, entry }: FactsProps) {
  const every = daemonMinutes(entry)
  const started = [...triggerWords(entry.on), ...(every ? [everyWords(every)] : [])]
  return (
    <dl className={styles.facts}>
      <dt>Source</dt>
      <dd>
        <FileLink org={org} repo={repo} at={at} path={entry.modulePath}>
          {entry.modulePath}
        </FileLink>
      </dd>
      <dt>Descriptor</dt>
      <dd>
        <FileLink org={org} repo={repo} at={at} path={entry.descriptorPath}>
          {entry.descriptorPath}
        </FileLink>
      </dd>
      <dt>Commit</dt>
      <dd>{entry.commitSha ? <CommitLink org={org} repo={repo} oid={entry.commitSha} /> : 'none'}</dd>
      <dt>Runtime</dt>
      <dd>{entry.runtime}</dd>
      <dt>Started by</dt>
      <dd>{started.length > 0 ? started.join('; ') : entry.dispatch ? 'requests alone' : 'nothing'}</dd>
      {entry.record && (
        <>
          <dt>Record</dt>
          <dd>
            {entry.canonicalSchemaHash === null ? (
              <code>{entry.record.name}</code>
            ) : (
              <Link to="/o/$org/$repo/records/$record" params={{ org, repo, record: entry.record.name }}>
                <code>{entry.record.name}</code>
              </Link>
            )}
            {entry.schemaAhead && ', whose schema here differs from the one in force'}
          </dd>
        </>
      )}
      <dt>Version</dt>
      <dd>
        <code>{JSON.stringify(entry.version)}</code>
      </dd>
      <dt>Built module</dt>
      <dd>
        <Bytes of={entry.source.bundleBytes} />{' '}
        <code title={entry.moduleHash}>{entry.moduleHash.slice(7, 19)}</code>
      </dd>
    </dl>
  )
}

function LastRuns({ org, repo, extension }: { org: string; repo: string; extension: string }) {
  const list = useList(org, (api) => api.runs.list, { name: repo, extension, limit: LAST_RUNS })
  return (
    <Section
      title="Last runs"
      actions={
        <Link to="/o/$org/$repo/runs" params={{ org, repo }} search={{ extension }}>
          All of them
        </Link>
      }
    >
      {list.isPending ? (
        <Skeleton rows={3} />
      ) : list.items.length > 0 ? (
        <RunsTable org={org} name={repo} runs={list.items.slice(0, LAST_RUNS)} withoutExtension />
      ) : (
        <p className={styles.quiet}>It has not run yet.</p>
      )}
    </Section>
  )
}
