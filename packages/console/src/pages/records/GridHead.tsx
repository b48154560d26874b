import type { RecordSchema } from '@trellis/contract'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Menu, MenuHead, MenuItem, MenuLine } from '../../ui/Menu.tsx'
import styles from './Grid.module.css'
import { askedOf, type Field, ordersOf } from './schema.ts'

interface GridHeadProps {
  schema: RecordSchema
  fields: readonly Field[]
  sort: string | undefined
  onSort: (sort: string | undefined) => void
  onFilter: (field: string) => void
}

/** The names and types of columns, and what can be done with each: filter, and sort where an index has the order. */
export function GridHead({ schema, fields, sort, onSort, onFilter }: GridHeadProps) {
  const orders = ordersOf(schema)
  const sorted = sort?.replace(/^-/, '').split(',') ?? []
  const direction = sort?.startsWith('-') ? 'descending' : 'ascending'
  return (
    <thead>
      <tr>
        <th scope="col" className={styles.idHead}>
          <span className={styles.name}>id</span>
        </th>
        {fields.map((field) => (
          <th
            key={field.name}
            scope="col"
            className={isNumber(field) ? styles.number : undefined}
            aria-sort={sorted[0] === field.name ? direction : undefined}
          >
            <Menu
              trigger={
                <button type="button" className={styles.head}>
                  <span className={styles.name}>{field.name}</span>
                  <span className={styles.type}>{field.type}</span>
                  {sorted.includes(field.name) && (
                    <span className={direction === 'ascending' ? styles.up : undefined}>
                      <Icon name="down" size={12} />
                    </span>
                  )}
                </button>
              }
            >
              <MenuHead>{askedOf(field)}</MenuHead>
              <MenuLine />
              <SortItems field={field} orders={orders} sort={sort} onSort={onSort} />
              <MenuLine />
              <MenuItem icon="search" onSelect={() => onFilter(field.name)}>
                Filter by {field.name}
              </MenuItem>
            </Menu>
          </th>
        ))}
        <th scope="col" className={styles.number}>
          <span className={styles.name}>revision</span>
        </th>
        <th scope="col">
          <span className={styles.name}>updated</span>
        </th>
      </tr>
    </thead>
  )
}

export const isNumber = ({ type }: Pick<Field, 'type'>): boolean => type === 'integer' || type === 'number'

interface SortItemsProps {
  field: Field
  orders: readonly string[]
  sort: string | undefined
  onSort: (sort: string | undefined) => void
}

function SortItems({ field, orders, sort, onSort }: SortItemsProps) {
  const fitting = orders.filter((order) => order.split(',')[0] === field.name)
  if (fitting.length === 0)
    return (
      <MenuHead>
        {field.type === 'json'
          ? 'JSON has no order, so rows cannot be sorted by it.'
          : `No index begins with ${field.name}, and only an index has an order ready. Declare one to sort by it: "indexes": ["${field.name}"]`}
      </MenuHead>
    )
  return (
    <>
      {fitting.flatMap((order) =>
        ['', '-'].map((sign) => (
          <MenuItem
            key={sign + order}
            icon={sort === sign + order ? 'check' : 'down'}
            onSelect={() => onSort(sign + order)}
          >
            Sort by {order.split(',').join(', then ')}
            {sign ? ', the last first' : ''}
          </MenuItem>
        )),
      )}
      {sort && <MenuItem onSelect={() => onSort(undefined)}>In the order they were made</MenuItem>}
    </>
  )
}

/** Above the table: which order holds, and how to leave it. */
export const SortNote = ({ sort, onClear }: { sort: string; onClear: () => void }) => (
  <p className={styles.quiet}>
    Sorted by {sort.replace(/^-/, '').split(',').join(', then ')}
    {sort.startsWith('-') ? ', the last first' : ''}
    <Button small kind="quiet" icon="close" aria-label="In the order they were made" onClick={onClear} />
  </p>
)
