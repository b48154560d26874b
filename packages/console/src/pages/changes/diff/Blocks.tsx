import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import styles from './Diff.module.css'
import { useNear } from './near.ts'

/** As tall as a line is, where none is wrapped. */
const ROW_PX = 20
/** What stands above the lines of a file while one reads them. */
const HEAD_PX = 44
/** So many are drawn, or not, together. */
const BLOCK = 50

interface BlocksProps<Item> {
  rows: readonly Item[]
  children: (row: Item, index: number) => ReactNode
  /** A row to show now. */
  target?: number | undefined
}

/** As many rows as there are, of which those are drawn that are near. The others keep their place. */
export function Blocks<Item>({ rows, children, target = -1 }: BlocksProps<Item>) {
  const blocks = useMemo(
    () =>
      Array.from({ length: Math.ceil(rows.length / BLOCK) }, (_, i) => ({
        start: i * BLOCK,
        rows: rows.slice(i * BLOCK, (i + 1) * BLOCK),
      })),
    [rows],
  )
  return blocks.map(({ start, rows }) => (
    <Block
      key={start}
      rows={rows}
      start={start}
      target={target >= start && target < start + BLOCK ? target - start : undefined}
    >
      {children}
    </Block>
  ))
}

function Block<Item>({ rows, start, target, children }: BlocksProps<Item> & { start: number }) {
  const ref = useRef<HTMLDivElement>(null)
  const { isNear, height } = useNear(ref)

  useEffect(() => {
    if (target === undefined || !ref.current) return
    const top = ref.current.getBoundingClientRect().top + target * ROW_PX
    // What was just clicked stays where it is.
    if (top < HEAD_PX || top > innerHeight - ROW_PX) scrollBy({ top: top - innerHeight / 3 })
  }, [target])

  return (
    <div
      ref={ref}
      className={styles.block}
      // Wrapped lines took more than a row each.
      style={isNear ? undefined : { height: Math.max(height, rows.length * ROW_PX) }}
    >
      {isNear && rows.map((row, i) => children(row, start + i))}
    </div>
  )
}
