import { Link } from '@tanstack/react-router'
import { addressOf } from '../addresses.ts'
import { resolvePath } from '../paths.ts'
import type { Place } from '../place.ts'
import styles from './FileView.module.css'

/** Where a symbolic link leads: not followed, so that nobody takes the one file for the other. */
export function SymlinkTo({ place: { org, name, ref, path }, target }: { place: Place; target: string }) {
  const inside = target.startsWith('/') ? undefined : resolvePath(path, target)
  return (
    <p className={styles.note}>
      This is a symbolic link to{' '}
      {inside === undefined ? (
        <>
          <code>{target}</code>, which is outside of the repository
        </>
      ) : (
        <Link to="/o/$org/$repo/blob/$" params={{ org, repo: name, _splat: addressOf(ref, inside) }}>
          <code>{target}</code>
        </Link>
      )}
      .
    </p>
  )
}
