import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useAction } from '../api/queries.ts'
import { organizationsQuery, ownsServerQuery, personQuery, signOut } from '../api/session.ts'
import { Button } from '../ui/Button.tsx'
import { Menu, MenuAnchor, MenuChoice, MenuHead, MenuItem, MenuLine, MenuLink } from '../ui/Menu.tsx'
import { chooseTheme, THEMES, useTheme } from './theme.ts'

export function OrgSwitcher({ org }: { org: string }) {
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

export function AccountMenu({ onHelp }: { onHelp: () => void }) {
  const { data: person } = useSuspenseQuery(personQuery)
  const { data: server } = useQuery(ownsServerQuery)
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
      {server?.owner && (
        <MenuLink to="/admin" icon="settings">
          This server
        </MenuLink>
      )}
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
