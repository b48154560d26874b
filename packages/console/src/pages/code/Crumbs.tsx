import { Link } from '@tanstack/react-router'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { addressOf } from './addresses.ts'
import styles from './Crumbs.module.css'

interface CrumbsProps {
  at: { org: string; name: string; ref: string; path: string }
}

/** The way from the root of the repository to what is shown. */
export function Crumbs({ at: { org, name, ref, path } }: CrumbsProps) {
  const parts = path.split('/').filter(Boolean)
  return (
    <nav aria-label="Path" className={styles.crumbs}>
      <Link to="/o/$org/$repo/tree/$" params={{ org, repo: name, _splat: ref }} className={styles.part}>
        {name}
      </Link>
      {parts.map((part, index) => {
        const below = parts.slice(0, index + 1).join('/')
        return (
          <span key={below} className={styles.step}>
            <span aria-hidden="true" className={styles.slash}>
              /
            </span>
            {index === parts.length - 1 ? (
              <span className={styles.last} aria-current="page">
                {part}
              </span>
            ) : (
              <Link
                to="/o/$org/$repo/tree/$"
                params={{ org, repo: name, _splat: addressOf(ref, below) }}
                className={styles.part}
              >
                {part}
              </Link>
            )}
          </span>
        )
      })}
      {path && <CopyButton text={path} label="Copy the path" bare />}
    </nav>
  )
}
