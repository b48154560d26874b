// What is not in a repository: home, an organization, a person, the server.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { searchOfActivity } from '../pages/activity/filters.ts'
import { orgPages, root } from './root.ts'

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/home/HomePage.tsx'), 'HomePage'),
})
const newRepository = createRoute({
  getParentRoute: () => root,
  path: '/new',
  component: lazyRouteComponent(() => import('../pages/repository/NewPage.tsx'), 'NewPage'),
  validateSearch: (search: Record<string, unknown>): { org?: string; way?: 'empty' | 'import' } => ({
    ...(typeof search.org === 'string' && { org: search.org }),
    ...(search.way === 'import' && { way: 'import' }),
  }),
})
const repositories = createRoute({
  getParentRoute: () => orgPages,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/home/RepositoriesPage.tsx'), 'RepositoriesPage'),
  staticData: { tab: { label: 'Repositories', key: 'r' } },
})
const orgActivity = createRoute({
  getParentRoute: () => orgPages,
  path: '/~/activity',
  validateSearch: searchOfActivity,
  component: lazyRouteComponent(() => import('../pages/activity/ActivityPage.tsx'), 'OrgActivityPage'),
  staticData: { tab: { label: 'Activity', key: 'a' } },
})
const people = createRoute({
  getParentRoute: () => orgPages,
  path: '/~/people',
  component: lazyRouteComponent(() => import('../pages/people/PeoplePage.tsx'), 'PeoplePage'),
  staticData: { tab: { label: 'People', key: 'p' } },
})
const agents = createRoute({
  getParentRoute: () => orgPages,
  path: '/~/agents',
  component: lazyRouteComponent(() => import('../pages/people/AgentsPage.tsx'), 'AgentsPage'),
  staticData: { tab: { label: 'Agents', key: 'n' } },
})
const orgSettings = createRoute({
  getParentRoute: () => orgPages,
  path: '/~/settings',
  component: lazyRouteComponent(() => import('../pages/people/OrgSettingsPage.tsx'), 'OrgSettingsPage'),
  staticData: { tab: { label: 'Settings', key: 's' } },
})
const newOrg = createRoute({
  getParentRoute: () => root,
  path: '/organizations/new',
  component: lazyRouteComponent(() => import('../pages/people/NewOrgPage.tsx'), 'NewOrgPage'),
})
const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  component: lazyRouteComponent(() => import('../pages/admin/AdminPage.tsx'), 'AdminPage'),
})
const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  component: lazyRouteComponent(() => import('../pages/account/AccountLayout.tsx'), 'AccountLayout'),
})
const profile = createRoute({
  getParentRoute: () => account,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/account/AccountPage.tsx'), 'AccountPage'),
})
const keys = createRoute({
  getParentRoute: () => account,
  path: '/keys',
  component: lazyRouteComponent(() => import('../pages/account/KeysPage.tsx'), 'KeysPage'),
  validateSearch: ({ org }: { org?: string }) => (typeof org === 'string' ? { org } : {}),
})
const ownAgents = createRoute({
  getParentRoute: () => account,
  path: '/agents',
  component: lazyRouteComponent(() => import('../pages/account/AgentsOfMine.tsx'), 'AgentsOfMine'),
})

/** In the order of the tabs. */
export const personal = [
  home,
  newOrg,
  newRepository,
  admin,
  account.addChildren([profile, keys, ownAgents]),
] as const
export const ofOrganization = [repositories, orgActivity, people, agents, orgSettings] as const
