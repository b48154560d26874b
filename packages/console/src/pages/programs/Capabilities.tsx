import type { ExtensionEntry } from '@trellis/contract'
import { Tag } from '../../ui/Status.tsx'
import styles from './Programs.module.css'
import { capabilityWords } from './words.ts'

/** What it asks for here and was not granted: the promotion would give it. */
export const newPowers = ({ capabilities, effectiveCapabilities }: ExtensionEntry): string[] =>
  capabilities.filter((capability) => !effectiveCapabilities.includes(capability))

/** In a row of a table. */
export function Capabilities({ entry }: { entry: ExtensionEntry }) {
  const powers = new Set(newPowers(entry))
  if (entry.capabilities.length === 0) return <span className={styles.dim}>nothing beside answering</span>
  return (
    <span className={styles.chips}>
      {entry.capabilities.map((capability) => (
        <span
          key={capability}
          className={powers.has(capability) ? `${styles.chip} ${styles.asked}` : styles.chip}
          title={`${capabilityWords(capability)}${powers.has(capability) ? ', once it is promoted' : ''}`}
        >
          {capability}
          {powers.has(capability) && <span className="heard">, not granted</span>}
        </span>
      ))}
    </span>
  )
}

/** On a page of its own: each with what it means. */
export function PowerList({ entry }: { entry: ExtensionEntry }) {
  const powers = newPowers(entry)
  const granted = entry.effectiveCapabilities
  return (
    <div className={styles.stack}>
      {powers.length > 0 && (
        <div className={styles.new}>
          <p>
            <strong>New power.</strong> It asks for what it was not granted. A promotion gives it; until then
            runs go without.
          </p>
          <Powers capabilities={powers} isNew />
        </div>
      )}
      {granted.length > 0 ? (
        <Powers capabilities={granted} />
      ) : (
        powers.length === 0 && <p className={styles.quiet}>Nothing: it is given its input and answers.</p>
      )}
    </div>
  )
}

const Powers = ({ capabilities, isNew = false }: { capabilities: string[]; isNew?: boolean }) => (
  <ul className={styles.powers}>
    {capabilities.map((capability) => (
      <li key={capability}>
        <code>{capability}</code> {isNew ? <Tag tone="warned">not granted</Tag> : <Tag>granted</Tag>}
        <span className={styles.dim}>{capabilityWords(capability)}</span>
      </li>
    ))}
  </ul>
)
