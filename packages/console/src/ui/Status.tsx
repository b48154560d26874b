import type { ReactNode } from 'react'
import styles from './Status.module.css'

/** How it looks: every one has a colour and a shape of its own. */
const LOOKS = {
  succeeded: { tone: 'good', shape: 'm3.5 8.25 3 3 6-6.5' },
  failed: { tone: 'bad', shape: 'm4.25 4.25 7.5 7.5M11.75 4.25l-7.5 7.5' },
  running: { tone: 'busy', shape: 'M8 3a5 5 0 0 1 5 5' },
  queued: { tone: 'waiting', shape: 'M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7' },
  cancelled: { tone: 'waiting', shape: 'M4 8h8' },
  quarantined: { tone: 'warned', shape: 'M8 3v6M8 12v.01' },
  active: { tone: 'good', shape: 'M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5' },
  off: { tone: 'waiting', shape: 'M4 4l8 8M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11' },
} as const

export type StatusKind = keyof typeof LOOKS

interface StatusProps {
  kind: StatusKind
  /** The word for it, where it is another than the kind. */
  children?: ReactNode
  /** For rows of them: the word is heard, not seen. */
  bare?: boolean
}

export function Status({ kind, children, bare = false }: StatusProps) {
  const { tone, shape } = LOOKS[kind]
  return (
    <span className={`${styles.status} ${styles[tone]}`} title={bare ? kind : undefined}>
      <svg
        className={kind === 'running' ? styles.turning : undefined}
        width={16}
        height={16}
        viewBox="0 0 16 16"
        aria-hidden="true"
      >
        {kind === 'running' && <circle className={styles.track} cx={8} cy={8} r={5} />}
        <path d={shape} />
      </svg>
      <span className={bare ? 'heard' : undefined}>{children ?? kind}</span>
    </span>
  )
}

/** A word about something that is no state: `default`, `read-only`, `personal`. */
export const Tag = ({ children, tone }: { children: ReactNode; tone?: 'warned' | 'bad' | 'good' }) => (
  <span className={tone ? `${styles.tag} ${styles[tone]}` : styles.tag}>{children}</span>
)
