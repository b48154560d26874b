import { Link } from '@tanstack/react-router'
import type { Commit } from '@trellis/contract'
import { useState } from 'react'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { Oid } from '../../ui/Code.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Tag } from '../../ui/Status.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { addressOf } from './addresses.ts'
import styles from './Commits.module.css'
import type { Place } from './place.ts'
import type { Pusher } from './pushers.ts'

interface CommitRowProps {
  commit: Commit
  pusher: Pusher | undefined
  place: Place
}

export function CommitRow({ commit, pusher, place }: CommitRowProps) {
  const [open, setOpen] = useState(false)
  const [summary = '', ...rest] = commit.message.trimEnd().split('\n')
  const body = rest.join('\n').trim()
  const params = { org: place.org, repo: place.name, _splat: addressOf(commit.oid, place.path) }
  const toCommit = { org: place.org, repo: place.name, oid: commit.oid }
  return (
    <div className={styles.row}>
      <div className={styles.what}>
        <div className={styles.summary}>
          <Link to="/o/$org/$repo/commit/$oid" params={toCommit}>
            {summary}
          </Link>
          {body && (
            <Button
              kind="quiet"
              small
              icon="more"
              aria-label="The whole message"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            />
          )}
        </div>
        {open && <pre className={styles.body}>{body}</pre>}
        <p className={styles.who}>
          <span title={commit.author.email}>{commit.author.name}</span>
          {' · '}
          <TimeAgo at={commit.committer.time} />
          {pusher && <PushedBy pusher={pusher} />}
          {commit.signed && <Tag>signed</Tag>}
        </p>
      </div>
      <div className={styles.ways}>
        <Link to="/o/$org/$repo/commit/$oid" params={toCommit} className={styles.oid}>
          <Oid>{commit.oid}</Oid>
        </Link>
        <CopyButton text={commit.oid} label="Copy the id" bare />
        <LinkButton
          kind="quiet"
          small
          icon="folder"
          to="/o/$org/$repo/tree/$"
          params={params}
          aria-label="Browse the files at this point"
          title="Browse the files at this point"
        />
      </div>
    </div>
  )
}

const PushedBy = ({ pusher }: { pusher: Pusher }) => (
  <span className={styles.pusher} title="As the log of this server says">
    {' · '}
    <Icon name={pusher.isAgent ? 'agent' : 'person'} size={12} />
    {` pushed by ${pusher.name}`}
  </span>
)
