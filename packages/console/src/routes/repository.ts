// Looking after a repository.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { repo } from './root.ts'

const access = createRoute({
  getParentRoute: () => repo,
  path: '/access',
  component: lazyRouteComponent(() => import('../pages/access/AccessPage.tsx'), 'AccessPage'),
  staticData: { tab: { label: 'Access', key: 'k' } },
})
const fork = createRoute({
  getParentRoute: () => repo,
  path: '/fork',
  component: lazyRouteComponent(() => import('../pages/repository/ForkPage.tsx'), 'ForkPage'),
  staticData: { under: 'Settings' },
})
const repoSettings = createRoute({
  getParentRoute: () => repo,
  path: '/settings',
  component: lazyRouteComponent(() => import('../pages/repository/SettingsPage.tsx'), 'SettingsPage'),
  staticData: { tab: { label: 'Settings', key: 's' } },
})

/** In the order of the tabs. */
export const ofRepository = [access, fork, repoSettings] as const
