import { Link } from '@tanstack/react-router'
import type { CommitSummary } from '@trellis/contract'
import { LinkButton } from '../../ui/Button.tsx'
import { Oid } from '../../ui/Code.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { addressOf } from './addresses.ts'
import { BoxActions } from './Box.tsx'
import styles from './CommitLine.module.css'

interface CommitLineProps {
  commit: Pick<CommitSummary, 'oid' | 'summary' | 'author' | 'time'>
  at: { org: string; name: string; ref: string; path: string }
}

/** The last commit of what is shown, at the head of it, and the way to all of them. */
export const CommitLine = ({ commit, at: { org, name, ref, path } }: CommitLineProps) => (
  <>
    <span className={styles.who}>{commit.author.name}</span>
    <Link
      to="/o/$org/$repo/commit/$oid"
      params={{ org, repo: name, oid: commit.oid }}
      className={styles.summary}
      title={commit.summary}
    >
      {commit.summary}
    </Link>
    <BoxActions>
      <span className={styles.when}>
        <Link to="/o/$org/$repo/commit/$oid" params={{ org, repo: name, oid: commit.oid }}>
          <Oid>{commit.oid}</Oid>
        </Link>
        {' · '}
        <TimeAgo at={commit.time} />
      </span>
      <LinkButton
        kind="quiet"
        small
        icon="time"
        to="/o/$org/$repo/commits/$"
        params={{ org, repo: name, _splat: addressOf(ref, path) }}
      >
        History
      </LinkButton>
    </BoxActions>
  </>
)
