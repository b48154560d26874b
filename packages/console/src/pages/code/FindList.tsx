import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useId, useState } from 'react'
import styles from './FindList.module.css'

interface FindListProps<Item> {
  /** What is looked for: `Find a branch`. */
  label: string
  text: string
  onText: (text: string) => void
  items: readonly Item[]
  /** The items fit what was written before: others are on their way. */
  isLate?: boolean
  keyOf: (item: Item) => string
  onChoose: (item: Item) => void
  children: (item: Item) => ReactNode
  /** Between what is written and what fits. */
  between?: ReactNode
  /** Said where nothing was found, or below it. */
  note?: ReactNode
}

/** A line to write in, and below it what fits: chosen with the arrows and Enter, or by a click. */
export function FindList<Item>(props: FindListProps<Item>) {
  const { label, text, onText, items, keyOf, onChoose, children, between, note, isLate = false } = props
  const [at, setAt] = useState(0)
  const id = useId()
  const chosen = Math.min(at, items.length - 1)

  // Whoever is quicker than the answer means the best of what it will bring.
  const [isEntered, setEntered] = useState(false)
  const chooseBest = useEffectEvent(() => {
    setEntered(false)
    if (items[0]) onChoose(items[0])
  })
  useEffect(() => {
    if (isEntered && !isLate) chooseBest()
  }, [isEntered, isLate])

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const item = items[chosen]
    if (step) setAt((chosen + step + items.length) % Math.max(1, items.length))
    else if (event.key === 'Enter' && isLate) setEntered(true)
    else if (event.key === 'Enter' && item) onChoose(item)
    else return
    event.preventDefault()
  }

  return (
    <>
      <input
        className={styles.input}
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={`${id}-found`}
        aria-activedescendant={items.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder={`${label}…`}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          onText(event.target.value)
          setAt(0)
          setEntered(false)
        }}
      />
      {between}
      {/* The keys are heard at the input, which says which one is meant. */}
      <div id={`${id}-found`} role="listbox" aria-label={label} className={styles.found}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
          // biome-ignore lint/a11y/useFocusableInteractive: see above.
          <div
            key={keyOf(item)}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className={styles.option}
            onClick={() => onChoose(item)}
            ref={index === chosen ? show : null}
          >
            {children(item)}
          </div>
        ))}
      </div>
      {note && <p className={styles.note}>{note}</p>}
    </>
  )
}

const show = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })
