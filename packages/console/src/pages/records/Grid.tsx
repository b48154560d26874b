import { useVirtualizer } from '@tanstack/react-virtual'
import type { RecordSchema } from '@trellis/contract'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { counted } from '../../ui/counted.ts'
import styles from './Grid.module.css'
import { GridHead } from './GridHead.tsx'
import { GridRow } from './GridRow.tsx'
import type { useRows } from './queries.ts'
import { fieldsOf } from './schema.ts'

interface GridProps {
  schema: RecordSchema
  list: ReturnType<typeof useRows>
  sort: string | undefined
  onSort: (sort: string | undefined) => void
  onFilter: (field: string) => void
  canWrite: boolean
}

const ROW = 36
/** How a key moves: rows, columns. */
const MOVES: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-15, 0],
  PageDown: [15, 0],
}

/** A table one can walk through with the arrow keys; those rows are there that can be seen. */
export function Grid({ schema, list, sort, onSort, onFilter, canWrite }: GridProps) {
  const { rows, hasMore, isReading, readMore, isScarce } = list
  const fields = fieldsOf(schema)
  const columns = fields.length + 3
  const frame = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState({ row: 0, column: 0 })
  const isMoving = useRef(false)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    overscan: 16,
    getItemKey: (index) => rows[index]?.id ?? index,
  })
  const shown = virtual.getVirtualItems()
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= rows.length - 20
  const readsOn = isNearEnd && hasMore && !isReading && !isScarce
  useEffect(() => {
    if (readsOn) void readMore()
  }, [readsOn, readMore])

  const move = (event: KeyboardEvent) => {
    const [down, right] = MOVES[event.key] ?? [0, 0]
    const isCell = event.target instanceof HTMLElement && event.target.matches('td')
    if (!isCell || (down === 0 && right === 0)) return
    event.preventDefault()
    const next = {
      row: Math.min(Math.max(at.row + down, 0), rows.length - 1),
      column: Math.min(Math.max(at.column + right, 0), columns - 1),
    }
    virtual.scrollToIndex(next.row)
    isMoving.current = true
    setAt(next)
  }
  // When it is drawn: it may have been out of sight.
  useEffect(() => {
    const cell =
      isMoving.current && frame.current?.querySelector<HTMLElement>(`[data-cell="${at.row} ${at.column}"]`)
    if (!cell) return
    isMoving.current = false
    cell.focus()
  })
  const above = shown[0]?.start ?? 0
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    <>
      <div ref={frame} className={styles.frame}>
        <table
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: one walks through its cells and writes in them.
          role="grid"
          className={styles.grid}
          aria-label={`Rows of ${schema.name}`}
          aria-rowcount={hasMore ? -1 : rows.length + 1}
          onKeyDown={move}
        >
          <GridHead schema={schema} fields={fields} sort={sort} onSort={onSort} onFilter={onFilter} />
          <tbody>
            {above > 0 && <Space height={above} columns={columns} />}
            {shown.map(({ index, key }) => {
              const row = rows[index]
              return (
                row && (
                  <GridRow
                    key={key}
                    row={row}
                    index={index}
                    schema={schema}
                    fields={fields}
                    active={at.row === index ? at.column : undefined}
                    onActive={(column) => setAt({ row: index, column })}
                    canWrite={canWrite}
                  />
                )
              )
            })}
            {below > 0 && <Space height={below} columns={columns} />}
          </tbody>
        </table>
      </div>
      <footer className={styles.foot}>
        <span>
          {counted(rows.length, 'row')}
          {hasMore ? ' so far' : ''}
        </span>
        {hasMore && isScarce && <span>Of the rows that were looked at last none fits.</span>}
        {hasMore && (
          <Button small busy={isReading} onClick={() => void readMore()}>
            {isReading ? 'Reading on…' : isScarce ? 'Keep looking' : 'Read on'}
          </Button>
        )}
      </footer>
    </>
  )
}

const Space = ({ height, columns }: { height: number; columns: number }) => (
  <tr className={styles.space}>
    <td colSpan={columns} style={{ height }} />
  </tr>
)
