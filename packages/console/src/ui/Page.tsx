import { type ReactNode, useEffect } from 'react'
import styles from './Page.module.css'

interface PageProps {
  /** In the title of the window. */
  title: string
  /** Code and tables take all there is; words do not. */
  full?: boolean
  children: ReactNode
}

/** What every page begins with, below its tabs. */
export function Page({ title, full = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Trellis`
  }, [title])
  return <div className={full ? `${styles.page} ${styles.full}` : styles.page}>{children}</div>
}

interface PageHeaderProps {
  title: ReactNode
  /** A sentence below it. */
  about?: ReactNode
  /** What one can do, at the right. */
  children?: ReactNode
}

export const PageHeader = ({ title, about, children }: PageHeaderProps) => (
  <header className={styles.header}>
    <div>
      <h1>{title}</h1>
      {about && <p className={styles.about}>{about}</p>}
    </div>
    {children && <div className={styles.actions}>{children}</div>}
  </header>
)

/** A part of a page, with a heading. */
export const Section = ({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ReactNode
  children: ReactNode
}) => (
  <section className={styles.section}>
    <header className={styles.head}>
      <h2>{title}</h2>
      {actions}
    </header>
    {children}
  </section>
)
