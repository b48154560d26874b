import { Link, Outlet, useMatches, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { rememberOrganization } from '../api/acting.ts'
import { useShortcuts } from '../keys/shortcuts.ts'
import { Tag } from '../ui/Status.tsx'
import { NavTab, NavTabs } from '../ui/Tabs.tsx'
import styles from './Layouts.module.css'
import { type Tab, useOrg, useRepo, useTabs } from './places.ts'

/** Of an organization's own pages. */
export function OrgLayout() {
  const { org, organization } = useOrg()
  const tabs = useTabs('/o/$org')
  useEffect(() => rememberOrganization(org), [org])
  return (
    <>
      <div className={styles.head}>
        <p className={styles.name}>
          {organization.name}
          {organization.frozen && <Tag tone="warned">frozen</Tag>}
        </p>
        <TabRow label="Organization" tabs={tabs} params={{ org }} />
      </div>
      <Outlet />
    </>
  )
}

/** Of a repository's pages. */
export function RepoLayout() {
  const { org, name, repo } = useRepo()
  const tabs = useTabs('/o/$org/$repo')
  useEffect(() => rememberOrganization(org), [org])
  return (
    <>
      <div className={styles.head}>
        {repo.readOnly && (
          <p className={styles.note}>
            <Tag tone="warned">read-only</Tag> Nobody can push while it is.
          </p>
        )}
        <TabRow label="Repository" tabs={tabs} params={{ org, repo: name }} />
      </div>
      <Outlet />
    </>
  )
}

interface TabRowProps {
  label: string
  tabs: Tab[]
  params: { org: string; repo?: string }
}

function TabRow({ label, tabs, params }: TabRowProps) {
  const navigate = useNavigate()
  const under = useMatches({ select: (matches) => matches.at(-1)?.staticData.under })
  useShortcuts(
    tabs.map(({ to, key, label }) => ({
      keys: `g ${key}`,
      does: `Go to ${label}`,
      run: () => void navigate({ to, params }),
    })),
  )
  return (
    <NavTabs label={label}>
      {tabs.map(({ to, label }, index) => (
        <NavTab key={to} to={to} params={params} exact={index === 0} isHere={label === under}>
          {label}
        </NavTab>
      ))}
    </NavTabs>
  )
}

/** For what is not there, or not to be seen. */
export function NothingHere() {
  const { repo, org } = useParams({ strict: false })
  const thing = repo ? 'repository' : org ? 'organization' : 'page'
  return (
    <div className={styles.nothing}>
      <h1>{`There is no such ${thing}${thing === 'page' ? '' : ', or you may not see it'}`}</h1>
      <p>The address may be mistyped, or what was here has been renamed or removed.</p>
      <p>
        <Link to="/">Go to your repositories</Link>
      </p>
    </div>
  )
}
