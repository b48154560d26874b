import { Button } from './Button.tsx'
import styles from './List.module.css'

interface PagerProps {
  hasMore: boolean
  isReading: boolean
  readMore: () => void
}

/** Below a table that has more rows than were read. */
export const Pager = ({ hasMore, isReading, readMore }: PagerProps) =>
  hasMore ? (
    <div className={styles.more}>
      <Button busy={isReading} onClick={readMore}>
        {isReading ? 'Reading on…' : 'Show more'}
      </Button>
    </div>
  ) : null
