import type { ReactNode } from 'react'
import styles from './Box.module.css'

/** A frame around what is read, with a line above it that says what that is. */
export const Box = ({ head, children }: { head?: ReactNode; children: ReactNode }) => (
  <div className={styles.box}>
    {head && <div className={styles.head}>{head}</div>}
    {children}
  </div>
)

/** At the right end of such a line: what one can do with it. */
export const BoxActions = ({ children }: { children: ReactNode }) => (
  <div className={styles.actions}>{children}</div>
)

/** Above a page's content: what it is about at the left, what one can do at the right. */
export const Toolbar = ({ children, actions }: { children: ReactNode; actions?: ReactNode }) => (
  <div className={styles.toolbar}>
    <div className={styles.left}>{children}</div>
    {actions && <div className={styles.actions}>{actions}</div>}
  </div>
)
