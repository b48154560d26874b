import { useMemo } from 'react'
import { Icon } from '../../../ui/Icon.tsx'
import { Counts } from './Counts.tsx'
import styles from './FileTree.module.css'
import { useReading } from './options.ts'
import { hrefOf } from './places.ts'
import { type Node, toTree } from './tree.ts'
import type { FileChange } from './use-diff.ts'

interface FileTreeProps {
  files: readonly FileChange[]
  /** How many there are, read or not. */
  total: number
  current: string | undefined
}

/** The files that changed, each a link to its changes. */
export function FileTree({ files, total, current }: FileTreeProps) {
  const { isNarrow } = useReading()
  const tree = useMemo(() => toTree(files), [files])
  return (
    <nav className={styles.tree} aria-label="Changed files">
      <details open={!isNarrow}>
        <summary>Changed files</summary>
        <ul>
          {tree.map((node) => (
            <TreeNode key={keyOf(node)} node={node} current={current} />
          ))}
        </ul>
        {total > files.length && (
          <p className={styles.more}>{`${(total - files.length).toLocaleString('en')} more further down`}</p>
        )}
      </details>
    </nav>
  )
}

const keyOf = (node: Node): string => (node.kind === 'file' ? node.file.path : `${node.path}/`)

function TreeNode({ node, current }: { node: Node; current: string | undefined }) {
  if (node.kind === 'file') {
    const { path, status, additions, deletions } = node.file
    return (
      <li>
        <a
          className={styles.file}
          href={hrefOf(path)}
          title={path}
          aria-current={path === current ? 'location' : undefined}
        >
          <span className={`${styles.dot} ${styles[status] ?? ''}`} aria-hidden="true" />
          <span className={styles.name}>{node.name}</span>
          <Counts additions={additions} deletions={deletions} />
        </a>
      </li>
    )
  }
  return (
    <li>
      <span className={styles.directory}>
        <Icon name="folder" size={14} />
        {node.name}
      </span>
      <ul>
        {node.children.map((child) => (
          <TreeNode key={keyOf(child)} node={child} current={current} />
        ))}
      </ul>
    </li>
  )
}
