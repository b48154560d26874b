import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { RecordCollection } from '@trellis/contract'
import { useRepo } from '../../shell/places.ts'
import { Bytes } from '../../ui/Bytes.tsx'
import { Command } from '../../ui/Code.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { collectionsQuery } from './queries.ts'
import styles from './Records.module.css'
import { fieldsOf } from './schema.ts'

/** The records of a repository that are in force. */
export function CollectionsPage() {
  const { org, name } = useRepo()
  const { data } = useSuspenseQuery(collectionsQuery(org, name))
  return (
    <Page title={`Records · ${org}/${name}`}>
      <PageHeader
        title="Records"
        about="Tables that extensions of this repository declare. What is in force comes from the canonical commit."
      />
      {data.items.length === 0 ? (
        <NoRecords />
      ) : (
        <Table
          label="Records in force"
          columns={[
            'Record',
            { head: 'Rows', kind: 'number' },
            { head: 'Size', kind: 'number' },
            { head: 'Fields', kind: 'wide' },
            'Indexes',
            'Starts runs',
          ]}
        >
          {data.items.map((collection) => (
            <Row key={collection.schema.name} collection={collection} />
          ))}
        </Table>
      )}
    </Page>
  )
}

function Row({ collection: { schema, rows, bytes } }: { collection: RecordCollection }) {
  const { org, name } = useRepo()
  const fields = fieldsOf(schema)
  return (
    <tr>
      <td>
        <Link
          to="/o/$org/$repo/records/$record"
          params={{ org, repo: name, record: schema.name }}
          className={styles.record}
        >
          {schema.name}
        </Link>
      </td>
      <td className={styles.number}>{rows.toLocaleString('en')}</td>
      <td className={styles.number}>
        <Bytes of={bytes} />
      </td>
      <td className={styles.fields}>
        {fields.map((field) => (
          <span key={field.name}>
            {field.name} <span className={styles.type}>{field.type}</span>
          </span>
        ))}
      </td>
      <td className={styles.indexes}>
        {schema.indexes?.length ? (
          schema.indexes.map((index) => <code key={index}>{index}</code>)
        ) : (
          <span className={styles.quiet}>none</span>
        )}
      </td>
      <td className={styles.quiet}>{hooksInWords(schema.hooks)}</td>
    </tr>
  )
}

function hooksInWords({ onCreate, onTransition }: RecordCollection['schema']['hooks']): string {
  const said = [onCreate && 'new rows', onTransition && 'transitions'].filter(Boolean)
  return said.length > 0 ? said.join(', ') : 'no'
}

const EXAMPLE = `{
  "version": 1,
  "name": "tasks",
  "record": {
    "name": "task",
    "fields": {
      "title": { "type": "string", "required": true },
      "status": { "type": "enum", "values": ["open", "done"], "default": "open" }
    },
    "indexes": ["status"]
  }
}`

const NoRecords = () => (
  <EmptyState title="No record is in force yet">
    <p>
      A record is a table that an extension declares. Put this into{' '}
      <code>extensions/tasks/extension.json</code>, with a module <code>index.ts</code> beside it, push, and
      promote the commit:
    </p>
    <Command>{EXAMPLE}</Command>
  </EmptyState>
)
