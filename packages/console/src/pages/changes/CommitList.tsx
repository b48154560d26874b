import { Link } from '@tanstack/react-router'
import type { Commit } from '@trellis/contract'
import { useState } from 'react'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Oid } from '../../ui/Code.tsx'
import { counted } from '../../ui/counted.ts'
import { Section } from '../../ui/Page.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Changes.module.css'
import { readMessage } from './CommitPage.tsx'

/** So many are shown at first. */
const FIRST = 8

interface CommitListProps {
  commits: readonly Commit[]
  ahead: number
  hasMore: boolean
  head: string
}

/** The commits that one has and the other has not, the newest first. */
export function CommitList({ commits, ahead, hasMore, head }: CommitListProps) {
  const { org, name } = useRepo()
  const [isAll, setAll] = useState(false)
  const shown = isAll ? commits : commits.slice(0, FIRST)
  return (
    <Section title={counted(ahead, 'commit')}>
      <ul className={styles.commits} aria-label="Commits">
        {shown.map(({ oid, message, author }) => (
          <li key={oid}>
            <Link to="/o/$org/$repo/commit/$oid" params={{ org, repo: name, oid }} className={styles.summary}>
              {readMessage(message).summary}
            </Link>
            <span className={styles.meta}>
              {author.name} · <TimeAgo at={author.time} />
            </span>
            <Oid>{oid}</Oid>
          </li>
        ))}
      </ul>
      {!isAll && commits.length > FIRST ? (
        <div>
          <Button kind="quiet" small onClick={() => setAll(true)}>
            {`Show ${hasMore ? 'the newest' : 'all'} ${commits.length}`}
          </Button>
        </div>
      ) : (
        hasMore && (
          <p className={styles.meta}>
            {`The newest ${commits.length} of ${ahead.toLocaleString('en')} on ${head}.`}
          </p>
        )
      )}
    </Section>
  )
}
