import { Link } from '@tanstack/react-router'
import type { RecordRow, RecordSchema } from '@trellis/contract'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useRepo } from '../../shell/places.ts'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { CellEditor } from './CellEditor.tsx'
import styles from './Grid.module.css'
import { isNumber } from './GridHead.tsx'
import type { Field } from './schema.ts'
import { Value } from './Value.tsx'
import { shortId } from './values.ts'

interface GridRowProps {
  row: RecordRow
  index: number
  schema: RecordSchema
  fields: readonly Field[]
  /** The column that keys act on, where it is this row. */
  active: number | undefined
  onActive: (column: number) => void
  canWrite: boolean
}

export function GridRow({ row, index, schema, fields, active, onActive, canWrite }: GridRowProps) {
  const { org, name } = useRepo()
  // With the row as it was when writing began: that is the one somebody saw.
  const [edited, setEdited] = useState<{ field: Field; row: RecordRow }>()
  const line = useRef<HTMLTableRowElement>(null)
  /** The column that was written in until now: there one goes on. */
  const left = useRef<number>(undefined)
  useEffect(() => {
    if (edited || left.current === undefined) return
    line.current?.cells[left.current]?.focus()
    left.current = undefined
  }, [edited])
  const at = (column: number) => ({
    'data-cell': `${index} ${column}`,
    tabIndex: active === column || (active === undefined && index === 0 && column === 0) ? 0 : -1,
    onFocus: () => onActive(column),
  })
  return (
    <tr ref={line} aria-rowindex={index + 2}>
      <td {...at(0)} className={styles.id} onKeyDown={follow}>
        <Link
          to="/o/$org/$repo/records/$record/$id"
          params={{ org, repo: name, record: schema.name, id: row.id }}
          title={row.id}
        >
          {shortId(row.id)}
        </Link>
      </td>
      {fields.map((field, i) =>
        edited?.field.name === field.name ? (
          <td key={field.name} {...at(i + 1)} className={styles.editing}>
            <CellEditor
              field={field}
              row={edited.row}
              schema={schema}
              onDone={() => {
                setEdited(undefined)
                left.current = i + 1
              }}
            />
          </td>
        ) : (
          <Cell
            key={field.name}
            at={at(i + 1)}
            isNumber={isNumber(field)}
            onEdit={canWrite ? () => setEdited({ field, row }) : undefined}
          >
            <Value field={field} value={row.data[field.name]} />
          </Cell>
        ),
      )}
      <td {...at(fields.length + 1)} className={styles.number}>
        {row.revision}
      </td>
      <td {...at(fields.length + 2)} className={styles.quiet}>
        <TimeAgo at={row.updatedAt} />
      </td>
    </tr>
  )
}

/** Enter on the cell of the id goes to the row. */
const follow = ({ key, currentTarget, target }: KeyboardEvent) => {
  if (key === 'Enter' && target === currentTarget) currentTarget.querySelector('a')?.click()
}

interface CellProps {
  at: { 'data-cell': string; tabIndex: number; onFocus: () => void }
  isNumber: boolean
  onEdit: (() => void) | undefined
  children: ReactNode
}

/** Written in after a double click, Enter or F2. */
function Cell({ at, isNumber, onEdit, children }: CellProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const isHere = event.target === event.currentTarget
    if (!isHere || !onEdit || (event.key !== 'Enter' && event.key !== 'F2')) return
    event.preventDefault()
    onEdit()
  }
  return (
    <td {...at} className={isNumber ? styles.number : undefined} onDoubleClick={onEdit} onKeyDown={onKeyDown}>
      <div className={styles.clipped}>{children}</div>
    </td>
  )
}
