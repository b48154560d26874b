import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import styles from './JsonTree.module.css'

/** So many of a list or object are shown at first, and so much of a text. */
const SHOWN = 100
const SHOWN_CHARACTERS = 500
/** What is deeper is closed at first. */
const OPEN_LEVELS = 2

interface JsonTreeProps {
  /** What it is: `Output`. */
  label: string
  value: unknown
}

/** Any JSON, to be read: what has parts opens and closes. */
export const JsonTree = ({ label, value }: JsonTreeProps) => (
  <section className={styles.frame} aria-label={label}>
    <div className={styles.copy}>
      <CopyButton text={JSON.stringify(value, null, 2) ?? ''} label={`Copy ${label.toLowerCase()}`} bare />
    </div>
    <div className={styles.tree}>
      <Value value={value} level={0} />
    </div>
  </section>
)

function Value({ value, level }: { value: unknown; level: number }) {
  if (Array.isArray(value)) {
    const entries = value.map((item, index): [string, unknown] => [String(index), item])
    return <Parts entries={entries} summary={many(value.length, 'item')} level={level} isList />
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    return <Parts entries={entries} summary={many(entries.length, 'field')} level={level} />
  }
  if (typeof value === 'string') return <Text text={value} />
  return String(value)
}

const many = (count: number, word: string): string =>
  count === 0 ? `no ${word}s` : `${count} ${word}${count === 1 ? '' : 's'}`

interface PartsProps {
  entries: [string, unknown][]
  summary: string
  level: number
  isList?: boolean
}

function Parts({ entries, summary, level, isList = false }: PartsProps) {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS && entries.length > 0)
  const [shown, setShown] = useState(SHOWN)
  const rest = entries.length - shown
  const items: ReactNode = isOpen && (
    <ul className={styles.parts}>
      {entries.slice(0, shown).map(([key, item]) => (
        <li key={key}>
          <span className={isList ? styles.index : styles.key}>{key}</span>
          <Value value={item} level={level + 1} />
        </li>
      ))}
      {rest > 0 && (
        <li>
          <Button small kind="quiet" onClick={() => setShown(shown + 10 * SHOWN)}>
            {`${rest.toLocaleString('en')} more`}
          </Button>
        </li>
      )}
    </ul>
  )
  if (level === 0 && entries.length > 0) return items
  return (
    <>
      <button
        type="button"
        className={styles.fold}
        aria-expanded={isOpen}
        disabled={entries.length === 0}
        onClick={() => setOpen(!isOpen)}
      >
        {summary}
      </button>
      {items}
    </>
  )
}

function Text({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(text.length <= SHOWN_CHARACTERS)
  if (isWhole) return <span className={`${styles.text} ${styles.quoted}`}>{text}</span>
  return (
    <span className={styles.text}>
      {text.slice(0, SHOWN_CHARACTERS)}…{' '}
      <Button small kind="quiet" onClick={() => setWhole(true)}>
        {`All ${text.length.toLocaleString('en')} characters`}
      </Button>
    </span>
  )
}
