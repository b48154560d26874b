// Code and its history. The addresses of most end in a ref and a path, both of which may have slashes.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { repo, texts } from './root.ts'

const codeLoading = () => import('../pages/code/loading.ts')
const codePage = {
  getParentRoute: () => repo,
  errorComponent: lazyRouteComponent(() => import('../pages/code/CodeProblem.tsx'), 'CodeProblem'),
  staticData: { under: 'Code' },
}
const code = createRoute({
  getParentRoute: () => repo,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/code/CodePage.tsx'), 'CodePage'),
  loader: async ({ params }) => (await codeLoading()).loadFront(params),
  staticData: { tab: { label: 'Code', key: 'c' } },
})
const commit = createRoute({
  getParentRoute: () => repo,
  path: '/commit/$oid',
  component: lazyRouteComponent(() => import('../pages/changes/CommitPage.tsx'), 'CommitPage'),
  errorComponent: lazyRouteComponent(() => import('../pages/changes/CommitProblem.tsx'), 'CommitProblem'),
  staticData: { under: 'Code' },
  validateSearch: (search: Record<string, unknown>): { w?: boolean; parent?: number } => ({
    ...(search.w === true && { w: true }),
    ...(Number.isInteger(search.parent) && { parent: Number(search.parent) }),
  }),
})
const compare = createRoute({
  getParentRoute: () => repo,
  path: '/compare/$',
  component: lazyRouteComponent(() => import('../pages/changes/ComparePage.tsx'), 'ComparePage'),
  staticData: { under: 'Branches' },
  validateSearch: (search: Record<string, unknown>): { w?: boolean } =>
    search.w === true ? { w: true } : {},
})
const branches = createRoute({
  getParentRoute: () => repo,
  path: '/branches',
  component: lazyRouteComponent(() => import('../pages/changes/refs/BranchesPage.tsx'), 'BranchesPage'),
  staticData: { tab: { label: 'Branches', key: 'b' } },
})
const tags = createRoute({
  getParentRoute: () => repo,
  path: '/tags',
  component: lazyRouteComponent(() => import('../pages/changes/refs/TagsPage.tsx'), 'TagsPage'),
  staticData: { under: 'Branches' },
})
const tree = createRoute({
  ...codePage,
  path: '/tree/$',
  component: lazyRouteComponent(() => import('../pages/code/TreePage.tsx'), 'TreePage'),
  loader: async ({ params }) => (await codeLoading()).loadTree(params),
})
const blob = createRoute({
  ...codePage,
  path: '/blob/$',
  component: lazyRouteComponent(() => import('../pages/code/BlobPage.tsx'), 'BlobPage'),
  loader: async ({ params }) => (await codeLoading()).loadBlob(params),
})
const blame = createRoute({
  ...codePage,
  path: '/blame/$',
  component: lazyRouteComponent(() => import('../pages/code/BlamePage.tsx'), 'BlamePage'),
  loader: async ({ params }) => (await codeLoading()).loadBlob(params),
})
const commits = createRoute({
  ...codePage,
  path: '/commits/$',
  component: lazyRouteComponent(() => import('../pages/code/CommitsPage.tsx'), 'CommitsPage'),
  loader: async ({ params }) => (await codeLoading()).loadPlace(params),
})
const search = createRoute({
  ...codePage,
  path: '/search',
  component: lazyRouteComponent(() => import('../pages/code/SearchPage.tsx'), 'SearchPage'),
  validateSearch: (search: Record<string, unknown>) => ({
    ...texts('q', 'ref', 'path')(search),
    ...(search.case === true && { case: true }),
  }),
})

/** In the order of the tabs. */
export const ofCode = [code, branches, tags, commit, compare, tree, blob, blame, commits, search] as const
