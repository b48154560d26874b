import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { NumberedEvent, RecordCollection, RecordRow } from '@trellis/contract'
import { useState } from 'react'
import { tailPath } from '../../api/client.ts'
import { refresh } from '../../api/queries.ts'
import { useTail } from '../../api/tails.ts'
import { useRepo } from '../../shell/places.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { counted } from '../../ui/counted.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Menu, MenuItem } from '../../ui/Menu.tsx'
import { Notice } from '../../ui/Notice.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { ExportDialog } from './ExportDialog.tsx'
import { Filters } from './Filters.tsx'
import { Grid } from './Grid.tsx'
import { SortNote } from './GridHead.tsx'
import { ImportDialog } from './ImportDialog.tsx'
import { NoSuchRecord } from './NoSuchRecord.tsx'
import { keepRow, type RowsAsked, useCollection, useRows } from './queries.ts'
import styles from './Records.module.css'
import type { Where } from './where.ts'

/** The rows of a record, as a table. */
export function RecordPage() {
  const { org, name } = useRepo()
  const { record = '' } = useParams({ strict: false })
  const collection = useCollection(org, name, record)
  return collection ? <Rows key={record} collection={collection} /> : <NoSuchRecord record={record} />
}

function Rows({ collection: { schema, rows: count } }: { collection: RecordCollection }) {
  const { org, name, repo } = useRepo()
  const record = schema.name
  const { where, sort } = useSearch({ strict: false }) as { where?: Where; sort?: string }
  const navigate = useNavigate()
  const [adding, setAdding] = useState<string>()
  const [opened, setOpened] = useState<'import' | 'export'>()
  const asked: RowsAsked = { name, record, where, sort }
  const list = useRows(org, asked)
  const added = useChanges(org, { name, record })
  const show = (search: { where?: Where | undefined; sort?: string | undefined }) =>
    void navigate({ to: '/o/$org/$repo/records/$record', params: { org, repo: name, record }, search })

  return (
    <Page title={`${record} · ${org}/${name}`} full>
      <PageHeader
        title={record}
        about={
          <>
            {counted(count, 'row')} ·{' '}
            <Link to="/o/$org/$repo/records" params={{ org, repo: name }}>
              All records
            </Link>
          </>
        }
      >
        <Menu align="end" trigger={<Button icon="down">Import, export</Button>}>
          <MenuItem icon="download" onSelect={() => setOpened('export')}>
            Export rows
          </MenuItem>
          {repo.canWrite && (
            <MenuItem icon="plus" onSelect={() => setOpened('import')}>
              Import rows
            </MenuItem>
          )}
        </Menu>
        {repo.canWrite && (
          <LinkButton
            kind="first"
            icon="plus"
            to="/o/$org/$repo/records/$record/new"
            params={{ org, repo: name, record }}
          >
            New row
          </LinkButton>
        )}
      </PageHeader>
      <div className={styles.table}>
        <div className={styles.bar}>
          <Filters
            schema={schema}
            where={where}
            onChange={(next) => show({ where: next, sort })}
            adding={adding}
            onAdding={setAdding}
          />
          {sort && <SortNote sort={sort} onClear={() => show({ where })} />}
        </div>
        {added.count > 0 && (
          <Notice>
            {added.count === 1 ? '1 row was added' : `${added.count} rows were added`}.
            <Button small onClick={added.show}>
              Show
            </Button>
          </Notice>
        )}
        {list.error ? (
          <Problem error={list.error} />
        ) : list.isPending ? (
          <Skeleton />
        ) : list.rows.length === 0 && !list.hasMore ? (
          <NoRows schema={schema} isFiltered={where !== undefined} />
        ) : (
          <Grid
            schema={schema}
            list={list}
            sort={sort}
            onSort={(next) => show({ where, sort: next })}
            onFilter={setAdding}
            canWrite={repo.canWrite}
          />
        )}
      </div>
      {opened === 'export' && <ExportDialog asked={asked} onClose={() => setOpened(undefined)} />}
      {opened === 'import' && (
        <ImportDialog
          schema={schema}
          onClose={() => {
            setOpened(undefined)
            added.show()
          }}
        />
      )}
    </Page>
  )
}

/** Rows that change elsewhere change here; of those that are new it is only said that they are. */
function useChanges(org: string, place: { name: string; record: string }) {
  const [count, setCount] = useState(0)
  useTail(tailPath(org, 'events/tail', { name: place.name }), ({ type, payload }: NumberedEvent) => {
    const { record, row } = (payload ?? {}) as { record?: string; row?: RecordRow }
    if (record !== place.record || !row) return
    if (type === 'record.created') setCount((before) => before + 1)
    else keepRow(org, place, row.id, type === 'record.deleted' ? undefined : row)
  })
  return {
    count,
    show: () => {
      setCount(0)
      void refresh(org, 'records/')
    },
  }
}

const NoRows = ({ schema, isFiltered }: { schema: RecordCollection['schema']; isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState title="No row meets all of these">
      <p>Take a filter away, or change it: a click on its words does that.</p>
    </EmptyState>
  ) : (
    <EmptyState title={`There are no rows of ${schema.name} yet`}>
      <p>
        Add one here, import a file with a line of JSON for each, or have an extension make them with{' '}
        <code>ctx.records.create(&quot;{schema.name}&quot;, …)</code>.
      </p>
    </EmptyState>
  )
