import styles from './Code.module.css'
import { CopyButton } from './CopyButton.tsx'
import { reachable } from './reachable.ts'

/** Lines to paste into a terminal. */
export const Command = ({ children }: { children: string }) => (
  <div className={styles.command}>
    <pre {...reachable}>
      <code>{children}</code>
    </pre>
    <CopyButton text={children} bare />
  </div>
)

/** A piece of text as it is, such as JSON, in a frame that scrolls. */
export const Code = ({ children, label }: { children: string; label: string }) => (
  <section className={styles.frame} aria-label={label} {...reachable}>
    <pre>
      <code>{children}</code>
    </pre>
  </section>
)

/** The first letters of an object's id. */
export const Oid = ({ children }: { children: string }) => (
  <code title={children}>{children.slice(0, 7)}</code>
)
