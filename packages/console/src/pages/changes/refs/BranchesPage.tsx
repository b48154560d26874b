import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Api } from '../../../api/client.ts'
import { query, useList } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Button, LinkButton } from '../../../ui/Button.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { Page, PageHeader } from '../../../ui/Page.tsx'
import { Pager } from '../../../ui/Pager.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { Tag } from '../../../ui/Status.tsx'
import { Table } from '../../../ui/Table.tsx'
import { TimeAgo } from '../../../ui/TimeAgo.tsx'
import { writeComparison } from '../compare-address.ts'
import { DeleteBranch, NewBranch } from './branch-dialogs.tsx'
import { Distance } from './Distance.tsx'
import styles from './Refs.module.css'

/** As many can be compared in one call. */
const AT_ONCE = 50

export type Branch = Awaited<ReturnType<Api['git']['branches']['compare']>>['items'][number]

/** All branches: how far each is from the default one, and what happened on it last. */
export function BranchesPage() {
  const { org, name, repo } = useRepo()
  const list = useList(org, (api) => api.git.branches.list, { name, limit: AT_ONCE })
  const found = useCompared(
    org,
    name,
    list.items.map((branch) => branch.name),
  )
  /** It goes first; the others stay as they are. */
  const isDefault = (branch: Branch) => Number(branch.name === repo.defaultBranch)
  const [isNew, setNew] = useState(false)
  const [leaving, setLeaving] = useState<Branch>()
  return (
    <Page title={`Branches · ${org}/${name}`}>
      <PageHeader title="Branches">
        <LinkButton to="/o/$org/$repo/tags" params={{ org, repo: name }} icon="tag">
          Tags
        </LinkButton>
        {repo.canWrite && list.items.length > 0 && (
          <Button kind="first" icon="plus" onClick={() => setNew(true)}>
            New branch
          </Button>
        )}
      </PageHeader>
      {list.isPending || found.isPending ? (
        <Skeleton />
      ) : list.items.length === 0 ? (
        <EmptyState title="There is no branch yet">
          <p>The first push makes one. The front page of the repository has the lines for it.</p>
        </EmptyState>
      ) : (
        <Table
          label="Branches"
          columns={[
            'Branch',
            { head: 'Last commit', kind: 'wide' },
            { head: `Behind and ahead of ${repo.defaultBranch}`, kind: 'narrow' },
            { head: 'Actions', kind: 'heard' },
          ]}
        >
          {found.items
            .toSorted((a, b) => isDefault(b) - isDefault(a))
            .map((branch) => (
              <Row key={branch.name} branch={branch} most={found.most} onDelete={() => setLeaving(branch)} />
            ))}
        </Table>
      )}
      <Pager {...list} />
      {isNew && <NewBranch onClose={() => setNew(false)} />}
      {leaving && <DeleteBranch branch={leaving} onClose={() => setLeaving(undefined)} />}
    </Page>
  )
}

/** Each page of names in a call of its own, so that what was read stays. */
function useCompared(org: string, name: string, names: readonly string[]) {
  const chunks = Array.from({ length: Math.ceil(names.length / AT_ONCE) }, (_, i) =>
    names.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  )
  const answers = useQueries({
    queries: chunks.map((branches) => query(org, (api) => api.git.branches.compare, { name, branches })),
  })
  const items = answers.flatMap(({ data }) => data?.items ?? [])
  const most = Math.max(1, ...items.flatMap(({ ahead, behind }) => [ahead ?? 0, behind ?? 0]))
  return { items, most, isPending: answers[0]?.isPending ?? false }
}

function Row({ branch, most, onDelete }: { branch: Branch; most: number; onDelete: () => void }) {
  const { org, name, repo } = useRepo()
  const { lastCommit } = branch
  const isDefault = branch.name === repo.defaultBranch
  return (
    <tr>
      <td>
        <span className={styles.name}>
          <Link to="/o/$org/$repo/tree/$" params={{ org, repo: name, _splat: branch.name }}>
            <code>{branch.name}</code>
          </Link>
          {isDefault && <Tag>default</Tag>}
        </span>
      </td>
      <td>
        <Link
          to="/o/$org/$repo/commit/$oid"
          params={{ org, repo: name, oid: branch.oid }}
          className={styles.commit}
        >
          {lastCommit.summary}
        </Link>
        <span className={styles.meta}>
          {lastCommit.author.name} · <TimeAgo at={lastCommit.time} />
        </span>
      </td>
      <td>{!isDefault && <Distance {...branch} most={most} />}</td>
      <td>
        {!isDefault && (
          <span className={styles.actions}>
            <LinkButton
              small
              to="/o/$org/$repo/compare/$"
              params={{ org, repo: name, _splat: writeComparison(repo.defaultBranch, branch.name) }}
              aria-label={`Compare ${branch.name}`}
            >
              Compare
            </LinkButton>
            {repo.canWrite && (
              <Button kind="danger" small onClick={onDelete} aria-label={`Delete ${branch.name}`}>
                Delete
              </Button>
            )}
          </span>
        )}
      </td>
    </tr>
  )
}
