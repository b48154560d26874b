import { Link, useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { modKey } from '../keys/shortcuts.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Kbd } from '../ui/Kbd.tsx'
import { useActingOrg } from './places.ts'
import styles from './TopBar.module.css'

// What opens when it is asked for comes after what is seen at once.
const menus = () => import('./TopBarMenus.tsx')
const OrgSwitcher = lazy(async () => ({ default: (await menus()).OrgSwitcher }))
const AccountMenu = lazy(async () => ({ default: (await menus()).AccountMenu }))

export function TopBar({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  const { repo } = useParams({ strict: false })
  const org = useActingOrg()
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.home} aria-label="Trellis, home">
        <svg width={20} height={20} viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3 2v12M8 2v12M13 2v12M1.5 5h13M1.5 11h13" />
        </svg>
      </Link>
      <nav aria-label="Where you are" className={styles.where}>
        <Link to="/o/$org" params={{ org }} className={styles.org}>
          {org}
        </Link>
        <Suspense
          fallback={<Button kind="quiet" small icon="down" aria-label="Switch organization" disabled />}
        >
          <OrgSwitcher org={org} />
        </Suspense>
        {repo && (
          <>
            <span className={styles.slash} aria-hidden="true">
              /
            </span>
            <Link to="/o/$org/$repo" params={{ org, repo }} className={styles.repo}>
              {repo}
            </Link>
          </>
        )}
      </nav>
      <button type="button" className={styles.search} onClick={onSearch}>
        <Icon name="search" />
        <span className={styles.word}>Search</span>
        <span className={styles.keys} aria-hidden="true">
          <Kbd keys={`${modKey} K`} />
        </span>
      </button>
      <Suspense fallback={<Button kind="quiet" icon="person" aria-label="Your account" disabled />}>
        <AccountMenu onHelp={onHelp} />
      </Suspense>
    </header>
  )
}
