import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ComponentProps, useDeferredValue, useId, useState } from 'react'
import { query } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Input } from '../../ui/Field.tsx'
import { useCollection } from './queries.ts'
import styles from './Records.module.css'
import { fieldsOf, titleOf } from './schema.ts'
import { shortId } from './values.ts'

interface RefInputProps {
  /** Where it leads to. */
  record: string
  text: string
  onText: (text: string) => void
  control: ComponentProps<'input'>
}

/** The id of a row, which can be looked up by what the row is called. */
export function RefInput({ record, text, onText, control }: RefInputProps) {
  const { org, name } = useRepo()
  const [isLooking, setLooking] = useState(false)
  const isId = /^rec_[0-9a-z]+$/.test(text)
  return (
    <div className={styles.refInput}>
      <div className={styles.refLine}>
        <Input {...control} mono placeholder="rec_…" />
        <Button icon="search" aria-expanded={isLooking} onClick={() => setLooking(!isLooking)}>
          Look up
        </Button>
        {isId && (
          <Link to="/o/$org/$repo/records/$record/$id" params={{ org, repo: name, record, id: text }}>
            Open
          </Link>
        )}
      </div>
      {isLooking && (
        <LookUp
          record={record}
          onChoose={(id) => {
            onText(id)
            setLooking(false)
          }}
        />
      )}
    </div>
  )
}

function LookUp({ record, onChoose }: { record: string; onChoose: (id: string) => void }) {
  const { org, name } = useRepo()
  const [typed, setTyped] = useState('')
  const wanted = useDeferredValue(typed)
  const label = useId()
  const schema = useCollection(org, name, record)?.schema
  const named = schema && fieldsOf(schema).find(({ type }) => type === 'string')?.name
  const where = named && wanted ? { [named]: { contains: wanted } } : undefined
  const { data } = useQuery({
    ...query(org, (api) => api.records.list, { name, record, limit: 8, ...(where && { where }) }),
    enabled: schema !== undefined,
  })
  if (!schema) return <p className={styles.quiet}>There is no record called {record} in force.</p>
  return (
    <div className={styles.lookUp}>
      {named && (
        <Input
          type="search"
          aria-label={`Rows of ${record} whose ${named} contains`}
          placeholder={`${named} contains…`}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            // The form around it is not meant.
            event.preventDefault()
            event.stopPropagation()
            const [first] = data?.rows ?? []
            if (first) onChoose(first.id)
          }}
          autoFocus
        />
      )}
      <span id={label} className="heard">{`Rows of ${record}`}</span>
      <ul aria-labelledby={label}>
        {data?.rows.map((row) => (
          <li key={row.id}>
            <button type="button" onClick={() => onChoose(row.id)}>
              <span>{titleOf(schema, row)}</span>
              <code>{shortId(row.id)}</code>
            </button>
          </li>
        ))}
      </ul>
      {data?.rows.length === 0 && <p className={styles.quiet}>No row of {record} is like that.</p>}
    </div>
  )
}
