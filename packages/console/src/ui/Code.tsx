import styles from './Code.module.css'
import { CopyButton } from './CopyButton.tsx'

/** Lines to paste into a terminal. */
export const Command = ({ children }: { children: string }) => (
  <div className={styles.command}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable. */}
    <pre tabIndex={0}>
      <code>{children}</code>
    </pre>
    <CopyButton text={children} bare />
  </div>
)

/** A piece of text as it is, such as JSON, in a frame that scrolls. */
export const Code = ({ children, label }: { children: string; label: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable.
  <section className={styles.frame} aria-label={label} tabIndex={0}>
    <pre>
      <code>{children}</code>
    </pre>
  </section>
)

/** The first letters of an object's id. */
export const Oid = ({ children }: { children: string }) => (
  <code title={children}>{children.slice(0, 7)}</code>
)
