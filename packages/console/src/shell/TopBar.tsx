import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useAction } from '../api/queries.ts'
import { organizationsQuery, personQuery, signOut } from '../api/session.ts'
import { modKey } from '../keys/shortcuts.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Kbd } from '../ui/Kbd.tsx'
import { Menu, MenuAnchor, MenuChoice, MenuHead, MenuItem, MenuLine, MenuLink } from '../ui/Menu.tsx'
import { useActingOrg } from './places.ts'
import styles from './TopBar.module.css'
import { chooseTheme, THEMES, useTheme } from './theme.ts'

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
        <OrgSwitcher org={org} />
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
      <AccountMenu onHelp={onHelp} />
    </header>
  )
}

function OrgSwitcher({ org }: { org: string }) {
  const { data } = useSuspenseQuery(organizationsQuery)
  return (
    <Menu trigger={<Button kind="quiet" small icon="down" aria-label="Switch organization" />}>
      <MenuHead>Organizations</MenuHead>
      {data.items.map(({ slug, name }) => (
        <MenuLink
          key={slug}
          to="/o/$org"
          params={{ org: slug }}
          icon={slug === org ? 'check' : 'organization'}
        >
          {name}
        </MenuLink>
      ))}
      <MenuLine />
      <MenuLink to="/organizations/new" icon="plus">
        New organization
      </MenuLink>
    </Menu>
  )
}

function AccountMenu({ onHelp }: { onHelp: () => void }) {
  const { data: person } = useSuspenseQuery(personQuery)
  const theme = useTheme()
  const leave = useAction(signOut)
  return (
    <Menu align="end" trigger={<Button kind="quiet" icon="person" aria-label="Your account" />}>
      {person && (
        <MenuHead>
          <strong>{person.name}</strong>
          {person.email}
        </MenuHead>
      )}
      <MenuLine />
      <MenuLink to="/account" icon="person">
        Your account
      </MenuLink>
      <MenuLink to="/account/keys" icon="key">
        Keys
      </MenuLink>
      <MenuLink to="/account/agents" icon="agent">
        Agents
      </MenuLink>
      <MenuAnchor href="/account/security" icon="lock">
        Sign-in and security
      </MenuAnchor>
      <MenuLine />
      <MenuChoice label="Theme" value={theme} options={THEMES} onChoose={chooseTheme} />
      <MenuLine />
      <MenuItem onSelect={onHelp}>Keyboard shortcuts</MenuItem>
      <MenuAnchor href="/reference">API reference</MenuAnchor>
      <MenuLine />
      <MenuItem onSelect={() => leave.run(undefined)}>Sign out</MenuItem>
    </Menu>
  )
}
