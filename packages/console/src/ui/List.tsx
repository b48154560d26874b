import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from './Button.tsx'
import styles from './List.module.css'

interface ListProps<Item> {
  label: string
  items: readonly Item[]
  keyOf: (item: Item) => string
  /** The inside of a row. */
  children: (item: Item, index: number) => ReactNode
  /** About how tall a row is; it is measured when it is there. */
  rowHeight?: number
  /** Where there is more to read. */
  more?: { hasMore: boolean; isReading: boolean; readMore: () => void } | undefined
}

/** As many rows as there are, of which those are drawn that can be seen. Reads on when its end comes near. */
export function List<Item>({ label, items, keyOf, children, rowHeight = 36, more }: ListProps<Item>) {
  const frame = useRef<HTMLUListElement>(null)
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: frame.current?.offsetTop ?? 0,
    getItemKey: (index) => keyOf(items[index] as Item),
  })
  const shown = rows.getVirtualItems()
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= items.length - 10
  const readsOn = isNearEnd && more?.hasMore === true && !more.isReading
  const readMore = more?.readMore

  useEffect(() => {
    if (readsOn) readMore?.()
  }, [readsOn, readMore])

  return (
    <>
      <ul ref={frame} className={styles.list} aria-label={label} style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, key, start }) => (
          <li
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className={styles.row}
            style={{ transform: `translateY(${start - rows.options.scrollMargin}px)` }}
          >
            {children(items[index] as Item, index)}
          </li>
        ))}
      </ul>
      {more?.hasMore && (
        <div className={styles.more}>
          <Button kind="quiet" busy={more.isReading} onClick={more.readMore}>
            {more.isReading ? 'Reading on…' : 'Show more'}
          </Button>
        </div>
      )}
    </>
  )
}
