import styles from './Refs.module.css'

interface DistanceProps {
  /** Null where it is too far to count. */
  ahead: number | null
  behind: number | null
  /** The longest bar of all. */
  most: number
}

/** How far a branch is behind, to the left, and ahead, to the right. */
export const Distance = ({ ahead, behind, most }: DistanceProps) => (
  <span className={styles.distance}>
    <span className={styles.behind}>
      {say(behind)}
      <span className="heard"> behind</span>
      {behind !== 0 && <i style={{ width: `${share(behind, most)}%` }} />}
    </span>
    <span className={styles.ahead}>
      {say(ahead)}
      <span className="heard"> ahead</span>
      {ahead !== 0 && <i style={{ width: `${share(ahead, most)}%` }} />}
    </span>
  </span>
)

const say = (count: number | null): string => (count === null ? 'many' : count.toLocaleString('en'))

/** Of the root, so that one commit can be seen beside a thousand. */
const share = (count: number | null, most: number): number =>
  count === null ? 100 : Math.sqrt(count / most) * 100
