import type { RecordSchema } from '@trellis/contract'
import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { FilterForm } from './FilterForm.tsx'
import styles from './Records.module.css'
import { fieldsOf } from './schema.ts'
import { type Condition, conditionsOf, inWords, type Where, whereOf } from './where.ts'

interface FiltersProps {
  schema: RecordSchema
  where: Where | undefined
  onChange: (where: Where | undefined) => void
  /** The field that somebody wants to filter by, from elsewhere on the page. */
  adding: string | undefined
  onAdding: (field: string | undefined) => void
}

/** The conditions that hold, a chip each; all of them must. They are the `where` of the address. */
export function Filters({ schema, where = {}, onChange, adding, onAdding }: FiltersProps) {
  const [edited, setEdited] = useState<number>()
  const conditions = conditionsOf(where)
  const fields = fieldsOf(schema)
  const change = (all: Condition[]) => {
    setEdited(undefined)
    onAdding(undefined)
    onChange(whereOf(all))
  }
  const isOpen = adding !== undefined || edited !== undefined
  const opened = edited === undefined ? undefined : conditions[edited]
  return (
    <div className={styles.filters}>
      <ul className={styles.chips} aria-label="Filters">
        {conditions.map((condition, i) => {
          const words = inWords(condition, fields)
          return (
            <li key={words} className={styles.chip}>
              {'field' in condition ? (
                <button type="button" className={styles.chipWords} onClick={() => setEdited(i)}>
                  {words}
                </button>
              ) : (
                <span className={styles.chipWords}>{words}</span>
              )}
              <Button
                kind="quiet"
                small
                icon="close"
                aria-label={`Remove the filter ${words}`}
                onClick={() => change(conditions.toSpliced(i, 1))}
              />
            </li>
          )
        })}
        {!isOpen && (
          <li>
            <Button small icon="plus" onClick={() => onAdding(fields[0]?.name ?? 'id')}>
              Filter
            </Button>
          </li>
        )}
        {conditions.length > 1 && !isOpen && (
          <li>
            <Button small kind="quiet" onClick={() => change([])}>
              Clear all
            </Button>
          </li>
        )}
      </ul>
      {isOpen && (
        <FilterForm
          key={edited ?? adding}
          fields={fields}
          condition={opened && 'field' in opened ? opened : undefined}
          field={adding}
          onApply={(condition) =>
            change(
              edited === undefined ? [...conditions, condition] : conditions.toSpliced(edited, 1, condition),
            )
          }
          onCancel={() => {
            setEdited(undefined)
            onAdding(undefined)
          }}
        />
      )}
    </div>
  )
}
