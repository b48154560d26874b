import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { NumberedEvent, Run, RunStatus, RunTrigger } from '@trellis/contract'
import { useEffect, useState } from 'react'
import { tailPath } from '../../api/client.ts'
import { refresh, useList } from '../../api/queries.ts'
import { useTail } from '../../api/tails.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Input, Select } from '../../ui/Field.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Status } from '../../ui/Status.tsx'
import styles from './Programs.module.css'
import { RunsTable } from './RunsTable.tsx'
import { useRowKeys } from './row-keys.ts'

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled']
const TRIGGERS: readonly RunTrigger[] = ['dispatch', 'push', 'record', 'event', 'daemon']

interface RunsSearch {
  status?: RunStatus | undefined
  extension?: string | undefined
  trigger?: RunTrigger | undefined
}

/** All runs of a repository, the newest first, with what becomes of them. */
export function RunsPage() {
  const { org, name } = useRepo()
  const search = useSearch({ strict: false }) as RunsSearch
  const navigate = useNavigate()
  const [extension, setExtension] = useState(search.extension ?? '')
  useRowKeys('run')
  const filter = (change: RunsSearch) =>
    void navigate({ to: '.', search: { ...search, ...change } as never, replace: true })
  return (
    <Page title={`Runs · ${org}/${name}`}>
      <PageHeader title="Runs" about="What the extensions of this repository did, and are doing now." />
      <search className={styles.filters}>
        <Select
          aria-label="Status"
          value={search.status ?? ''}
          onChange={({ target }) => filter({ status: (target.value || undefined) as RunStatus | undefined })}
        >
          <option value="">Any status</option>
          {STATUSES.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </Select>
        <Select
          aria-label="Trigger"
          value={search.trigger ?? ''}
          onChange={({ target }) =>
            filter({ trigger: (target.value || undefined) as RunTrigger | undefined })
          }
        >
          <option value="">Any trigger</option>
          {TRIGGERS.map((trigger) => (
            <option key={trigger}>{trigger}</option>
          ))}
        </Select>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            filter({ extension: extension.trim() || undefined })
          }}
        >
          <Input
            mono
            type="search"
            aria-label="Extension"
            value={extension}
            placeholder="Any extension"
            onChange={({ target }) => setExtension(target.value)}
            onBlur={() => filter({ extension: extension.trim() || undefined })}
          />
        </form>
      </search>
      <Runs key={JSON.stringify(search)} org={org} name={name} search={search} />
    </Page>
  )
}

function Runs({ org, name, search }: { org: string; name: string; search: RunsSearch }) {
  const list = useList(org, (api) => api.runs.list, { name, limit: 50, ...search })
  const { fresh, changed, forget, isLive } = useRunNews(org, name, search)
  const items = list.items.map((run) => ({ ...run, ...changed.get(run.id) }))
  const isFiltered = Object.values(search).some((value) => value !== undefined)
  const show = () => {
    forget()
    void refresh(org, 'runs/list')
  }
  if (list.isPending) return <Skeleton />
  return (
    <>
      <div className={styles.news} role="status">
        {fresh > 0 ? (
          <Button small onClick={show}>{`${fresh} new`}</Button>
        ) : (
          isLive && <Status kind="active">live</Status>
        )}
      </div>
      {items.length > 0 ? (
        <RunsTable org={org} name={name} runs={items} />
      ) : isFiltered ? (
        <EmptyState title={list.hasMore ? 'None among the latest runs' : 'No run is like that'} />
      ) : (
        <NoRuns org={org} name={name} />
      )}
      <Pager {...list} />
    </>
  )
}

const NoRuns = ({ org, name }: { org: string; name: string }) => (
  <EmptyState title="Nothing has run yet">
    <p>
      An extension runs when somebody asks for it, and by itself after a push, an event, a change of a record,
      or by the clock.
    </p>
    <p>
      <Link to="/o/$org/$repo/extensions" params={{ org, repo: name }}>
        See the extensions
      </Link>
    </p>
  </EmptyState>
)

/** Of so many it is known what became of them since they were listed. */
const MOST_CHANGES = 500

const BECOMES: Record<string, RunStatus> = {
  'run.started': 'running',
  'run.succeeded': 'succeeded',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
}

/** What the log of the repository tells while one looks: how many are new, and what became of those that are shown. */
function useRunNews(org: string, name: string, { extension, trigger }: RunsSearch) {
  const [fresh, setFresh] = useState(0)
  const [changed, setChanged] = useState<ReadonlyMap<string, Partial<Run>>>(new Map())
  const state = useTail(
    tailPath(org, 'events/tail', { name }),
    ({ type, ts, subject, payload }: NumberedEvent) => {
      const told = (payload ?? {}) as { extension?: string; trigger?: string }
      if (type === 'run.queued') {
        const isWanted =
          (!extension || told.extension === extension) && (!trigger || told.trigger === trigger)
        if (isWanted) setFresh((count) => count + 1)
        return
      }
      const status = BECOMES[type]
      if (!status || !subject) return
      const time = status === 'running' ? { startedAt: ts } : { endedAt: ts }
      setChanged((before) => {
        const kept = [...before].slice(-MOST_CHANGES)
        return new Map(kept).set(subject, { ...before.get(subject), status, ...time })
      })
    },
  )
  const isLive = state === 'live'
  // What came between the list and the tail.
  useEffect(() => {
    if (isLive) void refresh(org, 'runs/list')
  }, [isLive, org])
  const forget = () => setFresh(0)
  return { fresh, changed, forget, isLive }
}
