import { Bytes } from '../../ui/Bytes.tsx'
import styles from './Repository.module.css'

export interface Progress {
  phase: 'receiving' | 'resolving'
  percent: number
  bytes: number
}

const WORDS = { receiving: 'Receiving its history', resolving: 'Putting it together' }

/** How far an import has got. It ends with the page: that is said, too. */
export function ProgressBar({ progress }: { progress: Progress | undefined }) {
  const said = progress ? `${WORDS[progress.phase]}: ${progress.percent} %` : 'Asking for it…'
  return (
    <div className={styles.progress}>
      <progress aria-label="Import" max={100} value={progress?.percent} />
      <p role="status">
        {said}
        {progress && progress.bytes > 0 && (
          <>
            , <Bytes of={progress.bytes} />
          </>
        )}
        . Stay on this page until it is there.
      </p>
    </div>
  )
}
