import styles from './Skeleton.module.css'

/** In the place of rows that are on their way. Comes after a moment, so that what is quick does not flicker. */
export const Skeleton = ({ rows = 6 }: { rows?: number }) => (
  <div className={styles.skeleton} role="status" data-loading>
    <span className="heard">Loading</span>
    {Array.from({ length: rows }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike.
      <div key={row} className={styles.row} style={{ width: `${WIDTHS[row % WIDTHS.length]}%` }} />
    ))}
  </div>
)

const WIDTHS = [62, 48, 71, 55, 66, 40]
