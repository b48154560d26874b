import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { addressOf, blobQuery, isMarkdown, MOST_SHOWN_BYTES, readmeOf } from './addresses.ts'
import { Box } from './Box.tsx'
import type { DirectoryAt, Row } from './Directory.tsx'
import styles from './Readme.module.css'

const Markdown = lazy(() => import('./markdown/Markdown.tsx'))

/** What a directory says of itself, below its files. */
export function Readme({ at, rows }: { at: DirectoryAt; rows: Row[] }) {
  const file = readmeOf(rows)
  if (!file || (file.size ?? 0) > MOST_SHOWN_BYTES) return null
  return <Shown at={at} path={file.path} name={file.name} oid={file.oid} />
}

function Shown({ at, path, name, oid }: { at: DirectoryAt; path: string; name: string; oid: string }) {
  const { data } = useQuery(blobQuery(at.org, at.name, oid))
  if (data && data.encoding !== 'utf-8') return null
  return (
    <Box
      head={
        <h2 className={styles.title}>
          <Icon name="file" />
          <Link
            to="/o/$org/$repo/blob/$"
            params={{ org: at.org, repo: at.name, _splat: addressOf(at.ref, path) }}
          >
            {name}
          </Link>
        </h2>
      }
    >
      <Suspense fallback={<Waiting />}>
        {!data ? (
          <Waiting />
        ) : isMarkdown(name) ? (
          <Markdown text={data.content} at={{ ...at, path }} />
        ) : (
          <pre className={styles.plain}>{data.content}</pre>
        )}
      </Suspense>
    </Box>
  )
}

const Waiting = () => (
  <div className={styles.waiting}>
    <Skeleton />
  </div>
)
