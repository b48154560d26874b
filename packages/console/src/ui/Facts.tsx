import type { ReactNode } from 'react'
import styles from './Facts.module.css'

/** In a cell of a table: what something is called, and below it, smaller, what else tells it from others. */
export const TwoLines = ({ children, below }: { children: ReactNode; below: ReactNode }) => (
  <div className={styles.two}>
    <span>{children}</span>
    <span className={styles.below}>{below}</span>
  </div>
)

/** Names of things and what they are: `[['Version', '0.7.0']]`. */
export const Facts = ({ of }: { of: readonly (readonly [name: string, what: ReactNode])[] }) => (
  <dl className={styles.facts}>
    {of.map(([name, what]) => (
      <Fact key={name} name={name}>
        {what}
      </Fact>
    ))}
  </dl>
)

/** The same, told at length, beside or above what they are about: each child is a `Fact`. */
export const FramedFacts = ({ children }: { children: ReactNode }) => (
  <dl className={`${styles.facts} ${styles.framed}`}>{children}</dl>
)

export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)
