import type { ReactNode } from 'react'
import styles from './Notice.module.css'

/** What has changed since the page was read, and a button that shows it. */
export const Notice = ({ children }: { children: ReactNode }) => (
  <p className={styles.notice} role="status">
    {children}
  </p>
)
