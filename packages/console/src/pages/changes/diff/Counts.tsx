import styles from './Diff.module.css'

/** Lines that came and went; nothing where none did. */
export const Counts = ({ additions, deletions }: { additions: number; deletions: number }) => (
  <span className={styles.counts}>
    {additions > 0 && (
      <span className={styles.plus}>
        +{additions.toLocaleString('en')}
        <span className="heard"> added</span>
      </span>
    )}
    {deletions > 0 && (
      <span className={styles.minus}>
        −{deletions.toLocaleString('en')}
        <span className="heard"> removed</span>
      </span>
    )}
  </span>
)
