import type { ReactNode } from 'react'
import { reachable } from './reachable.ts'
import styles from './Table.module.css'

interface TableProps {
  /** What the rows are, for those who listen. */
  label: string
  /** The words at the heads of the columns; those of numbers stand at the right, and over buttons they are only heard. */
  columns: readonly (string | { head: string; kind: 'number' | 'narrow' | 'wide' | 'heard' })[]
  /** `<tr>` of as many `<td>`. */
  children: ReactNode
}

export const Table = ({ label, columns, children }: TableProps) => (
  // On a phone it is wider than the page: then it can be scrolled, also with the keyboard.
  <section className={styles.frame} aria-label={label} {...reachable}>
    <table className={styles.table}>
      <thead>
        <tr>
          {columns.map((column) => {
            const { head, kind } = typeof column === 'string' ? { head: column, kind: undefined } : column
            return (
              <th key={head} scope="col" className={kind && styles[kind]}>
                {kind === 'heard' ? <span className="heard">{head}</span> : head}
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
)
