import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { GitRef } from '@trellis/contract'
import { useState } from 'react'
import { query, useList } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Button, LinkButton } from '../../../ui/Button.tsx'
import { Command, Oid } from '../../../ui/Code.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { List } from '../../../ui/List.tsx'
import { Page, PageHeader } from '../../../ui/Page.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { TimeAgo } from '../../../ui/TimeAgo.tsx'
import { readMessage } from '../CommitPage.tsx'
import styles from './Refs.module.css'
import { DeleteTag, NewTag } from './tag-dialogs.tsx'

export function TagsPage() {
  const { org, name, repo } = useRepo()
  const list = useList(org, (api) => api.git.tags.list, { name, limit: 100 })
  const [isNew, setNew] = useState(false)
  const [leaving, setLeaving] = useState<GitRef>()
  return (
    <Page title={`Tags · ${org}/${name}`}>
      <PageHeader title="Tags">
        <LinkButton to="/o/$org/$repo/branches" params={{ org, repo: name }} icon="branch">
          Branches
        </LinkButton>
        {repo.canWrite && (
          <Button kind="first" icon="plus" onClick={() => setNew(true)}>
            New tag
          </Button>
        )}
      </PageHeader>
      {list.isPending ? (
        <Skeleton />
      ) : list.items.length === 0 ? (
        <EmptyState title="There is no tag yet">
          <p>A tag gives a commit a name that stays, such as that of a release. From a clone:</p>
          <Command>{'git tag -a v1.0 -m "The first release"\ngit push origin v1.0'}</Command>
        </EmptyState>
      ) : (
        <List label="Tags" items={list.items} keyOf={(tag) => tag.name} rowHeight={44} more={list}>
          {(tag) => <Row tag={tag} onDelete={() => setLeaving(tag)} />}
        </List>
      )}
      {isNew && <NewTag onClose={() => setNew(false)} />}
      {leaving && <DeleteTag tag={leaving} onClose={() => setLeaving(undefined)} />}
    </Page>
  )
}

function Row({ tag, onDelete }: { tag: GitRef; onDelete: () => void }) {
  const { org, name, repo } = useRepo()
  // A tag may be of something that is no commit.
  const { data: commit } = useQuery({
    ...query(org, (api) => api.git.commits.get, { name, ref: `refs/tags/${tag.name}` }),
    throwOnError: false,
  })
  return (
    <div className={styles.tag}>
      <Icon name="tag" />
      <Link to="/o/$org/$repo/tree/$" params={{ org, repo: name, _splat: tag.name }}>
        <code>{tag.name}</code>
      </Link>
      {commit && (
        <>
          <Link
            to="/o/$org/$repo/commit/$oid"
            params={{ org, repo: name, oid: commit.oid }}
            className={styles.summary}
          >
            {readMessage(commit.message).summary}
          </Link>
          <span className={styles.meta}>
            <Oid>{commit.oid}</Oid> · <TimeAgo at={commit.committer.time} />
          </span>
        </>
      )}
      {repo.canWrite && (
        <Button kind="danger" small onClick={onDelete} aria-label={`Delete ${tag.name}`}>
          Delete
        </Button>
      )}
    </div>
  )
}
