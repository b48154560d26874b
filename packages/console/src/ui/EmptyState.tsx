import type { ReactNode } from 'react'
import styles from './EmptyState.module.css'

interface EmptyStateProps {
  title: string
  /** The next step: sentences, `<Command>`s, a button. */
  children?: ReactNode
}

/** Nothing is here yet: what to do so that something is. */
export const EmptyState = ({ title, children }: EmptyStateProps) => (
  <section className={styles.empty}>
    <h2>{title}</h2>
    {children}
  </section>
)
