import { useList } from '../../api/queries.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { List } from '../../ui/List.tsx'
import { Page } from '../../ui/Page.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { refInWords } from './addresses.ts'
import { Toolbar } from './Box.tsx'
import { byDay } from './by-day.ts'
import { CommitRow } from './CommitRow.tsx'
import styles from './Commits.module.css'
import { Crumbs } from './Crumbs.tsx'
import { usePin, usePlace } from './place.ts'
import { usePushers } from './pushers.ts'
import { RefPicker } from './RefPicker.tsx'

/** The history of a ref, or of a path in it. */
export function CommitsPage() {
  const place = usePlace()
  const { org, name, commit, path } = place
  usePin('/o/$org/$repo/commits/$', place)
  const list = useList(org, (api) => api.git.commits.list, {
    name,
    ref: commit,
    limit: 50,
    ...(path && { path }),
  })
  const pushers = usePushers(org, name)
  const title = path ? `History of ${path}` : `History of ${refInWords(place)}`
  return (
    <Page title={`${title} · ${org}/${name}`}>
      <h1 className="heard">{title}</h1>
      <Toolbar>
        <RefPicker to="/o/$org/$repo/commits/$" at={place} />
        {path && <Crumbs at={place} />}
      </Toolbar>
      {list.isPending ? (
        <Skeleton />
      ) : list.items.length === 0 ? (
        <EmptyState title={`No commit of ${refInWords(place)} has changed ${path || 'anything'}`} />
      ) : (
        <List
          label="Commits"
          items={byDay(list.items)}
          keyOf={(row) => (row.kind === 'day' ? row.day : row.commit.oid)}
          rowHeight={56}
          more={list}
        >
          {(row) =>
            row.kind === 'day' ? (
              <h2 className={styles.day}>{row.day}</h2>
            ) : (
              <CommitRow commit={row.commit} pusher={pushers.get(row.commit.oid)} place={place} />
            )
          }
        </List>
      )}
    </Page>
  )
}
