import { Link } from '@tanstack/react-router'
import type { Repo } from '@trellis/contract'
import { useEffect, useState } from 'react'
import { useList } from '../../api/queries.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { Bytes } from '../../ui/Bytes.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Input } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { List } from '../../ui/List.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Tag } from '../../ui/Status.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Home.module.css'
import { NoRepositories } from './NoRepositories.tsx'

export const listed = { limit: 100 }

/** All repositories of an organization by name, as far as they have been read. */
export function Repositories({ org }: { org: string }) {
  const [wanted, setWanted] = useState('')
  const list = useList(org, (api) => api.repos.list, listed)
  const found = list.items.filter(({ name }) => name.includes(wanted.toLowerCase()))
  // What is looked for may be further on.
  const readsOn = wanted !== '' && found.length < 20 && list.hasMore && !list.isReading
  useEffect(() => {
    if (readsOn) list.readMore()
  }, [readsOn, list.readMore])

  if (list.isPending) return <Skeleton />
  if (list.items.length === 0) return <NoRepositories org={org} />
  return (
    <section className={styles.repositories} aria-label="Repositories">
      <div className={styles.find}>
        <Input
          type="search"
          aria-label="Find a repository"
          placeholder="Find a repository…"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
        <LinkButton to="/new" search={{ org }} icon="plus">
          New repository
        </LinkButton>
      </div>
      {found.length === 0 && !list.hasMore ? (
        <EmptyState title={`No repository is called like “${wanted}”`} />
      ) : (
        <List label="Repositories" items={found} keyOf={({ name }) => name} rowHeight={44} more={list}>
          {(repo) => <Row org={org} repo={repo} />}
        </List>
      )}
    </section>
  )
}

const Row = ({ org, repo }: { org: string; repo: Repo }) => (
  <div className={styles.row}>
    <Icon name="repository" />
    <Link to="/o/$org/$repo" params={{ org, repo: repo.name }} className={styles.name}>
      {repo.name}
    </Link>
    {repo.readOnly && <Tag tone="warned">read-only</Tag>}
    <span className={styles.meta}>
      {repo.lastPushAt ? (
        <>
          <span className={styles.size}>
            <Bytes of={repo.sizeBytes} />
          </span>
          pushed <TimeAgo at={repo.lastPushAt} />
        </>
      ) : (
        'nothing pushed yet'
      )}
    </span>
  </div>
)
