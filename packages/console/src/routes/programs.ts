// Programs: extensions, promotion, runs, daemons.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { repo, texts } from './root.ts'

const program = {
  getParentRoute: () => repo,
  errorComponent: lazyRouteComponent(
    () => import('../pages/programs/ProgramsProblem.tsx'),
    'ProgramsProblem',
  ),
}
const extensions = createRoute({
  ...program,
  path: '/extensions',
  component: lazyRouteComponent(() => import('../pages/programs/ExtensionsPage.tsx'), 'ExtensionsPage'),
  validateSearch: texts('ref'),
  staticData: { tab: { label: 'Extensions', key: 'x' } },
})
const extension = createRoute({
  ...program,
  path: '/extensions/$name',
  component: lazyRouteComponent(() => import('../pages/programs/ExtensionPage.tsx'), 'ExtensionPage'),
  validateSearch: texts('ref', 'from'),
})
const promote = createRoute({
  ...program,
  path: '/promote',
  component: lazyRouteComponent(() => import('../pages/programs/PromotePage.tsx'), 'PromotePage'),
  validateSearch: texts('ref'),
  staticData: { under: 'Extensions' },
})
const runs = createRoute({
  ...program,
  path: '/runs',
  component: lazyRouteComponent(() => import('../pages/programs/RunsPage.tsx'), 'RunsPage'),
  validateSearch: texts('status', 'extension', 'trigger'),
  staticData: { tab: { label: 'Runs', key: 'r' } },
})
const run = createRoute({
  ...program,
  path: '/runs/$id',
  component: lazyRouteComponent(() => import('../pages/programs/RunPage.tsx'), 'RunPage'),
})
const daemons = createRoute({
  ...program,
  path: '/daemons',
  component: lazyRouteComponent(() => import('../pages/programs/DaemonsPage.tsx'), 'DaemonsPage'),
  staticData: { tab: { label: 'Daemons', key: 'd' } },
})

/** In the order of the tabs. */
export const ofPrograms = [extensions, extension, promote, runs, run, daemons] as const
