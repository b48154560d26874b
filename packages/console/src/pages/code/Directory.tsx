import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { TreeEntry } from '@trellis/contract'
import { type RefObject, useRef } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { List } from '../../ui/List.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Tag } from '../../ui/Status.tsx'
import { addressOf, isSymlink, parentOf, treeQuery } from './addresses.ts'
import styles from './Directory.module.css'
import { LastChange } from './LastChange.tsx'

export interface DirectoryAt {
  org: string
  name: string
  /** In links; the commit is what it stands for. */
  ref: string
  commit: string
  path: string
}

/** An entry, and the page of the listing that it came with. */
export type Row = TreeEntry & { cursor: string }

/** What is in a directory, as far as it has been read. */
export function useDirectory(at: DirectoryAt) {
  const list = useInfiniteQuery(treeQuery(at))
  const rows: Row[] = (list.data?.pages ?? []).flatMap(({ items }, page) =>
    items.map((entry) => ({ ...entry, cursor: String(list.data?.pageParams[page] ?? '') })),
  )
  return { ...list, rows: list.hasNextPage || rows.length > 100 ? rows : directoriesFirst(rows) }
}

/** Where all is known. A long list is in the order of git, so that nothing moves while it is read. */
const directoriesFirst = (rows: Row[]): Row[] => [
  ...rows.filter(({ type }) => type !== 'blob'),
  ...rows.filter(({ type }) => type === 'blob'),
]

export function Directory({ at, list }: { at: DirectoryAt; list: ReturnType<typeof useDirectory> }) {
  const frame = useRef<HTMLDivElement>(null)
  useRowKeys(frame)
  if (list.isPending) return <Skeleton />
  return (
    <div ref={frame}>
      {at.path && <Up at={at} />}
      <List
        label="Files"
        items={list.rows}
        keyOf={({ name }) => name}
        more={{
          hasMore: list.hasNextPage,
          isReading: list.isFetchingNextPage,
          readMore: () => void list.fetchNextPage(),
        }}
      >
        {(row) => <EntryRow at={at} row={row} />}
      </List>
    </div>
  )
}

/** `j` and `k` go from entry to entry; Enter opens one, as it does with any link. */
function useRowKeys(frame: RefObject<HTMLElement | null>): void {
  function step(by: 1 | -1): void {
    const links = [...(frame.current?.querySelectorAll<HTMLElement>('[data-entry]') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLElement)
    links[at < 0 ? 0 : at + by]?.focus()
  }
  useShortcuts([
    { keys: 'j', does: 'The next file', run: () => step(1) },
    { keys: 'k', does: 'The file before', run: () => step(-1) },
  ])
}

const Up = ({ at: { org, name, ref, path } }: { at: DirectoryAt }) => (
  <Link
    to="/o/$org/$repo/tree/$"
    params={{ org, repo: name, _splat: addressOf(ref, parentOf(path)) }}
    className={styles.up}
    aria-label="The directory above"
  >
    ..
  </Link>
)

function EntryRow({ at, row }: { at: DirectoryAt; row: Row }) {
  return (
    <div className={styles.row}>
      <span className={row.type === 'blob' ? styles.icon : `${styles.icon} ${styles.folder}`}>
        <Icon name={iconOf(row)} />
      </span>
      <EntryName at={at} row={row} />
      <LastChange at={at} row={row} />
    </div>
  )
}

function EntryName({ at: { org, name, ref }, row }: { at: DirectoryAt; row: Row }) {
  // Another repository's commit: what is in it is not here.
  if (row.type === 'commit')
    return (
      <span className={styles.name}>
        {row.name} <Tag>{`submodule at ${row.oid.slice(0, 7)}`}</Tag>
      </span>
    )
  return (
    <span className={styles.name}>
      <Link
        to={row.type === 'tree' ? '/o/$org/$repo/tree/$' : '/o/$org/$repo/blob/$'}
        params={{ org, repo: name, _splat: addressOf(ref, row.path) }}
        data-entry
      >
        {row.name}
      </Link>
      {isSymlink(row) && <Tag>symlink</Tag>}
    </span>
  )
}

function iconOf(row: Row): IconName {
  if (row.type === 'tree') return 'folder'
  if (row.type === 'commit') return 'repository'
  return isSymlink(row) ? 'link' : 'file'
}
