import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { isApiError, isNotThere } from './api/errors.ts'
import { queryClient } from './api/queries.ts'
import { organizationsQuery, personQuery, selfQuery } from './api/session.ts'
import { searchOfActivity } from './pages/activity/filters.ts'
import { searchOfRows } from './pages/records/search.ts'
import { searchOfDeliveries } from './pages/webhooks/search.ts'
import { NothingHere, OrgLayout, RepoLayout } from './shell/Layouts.tsx'
import { orgQuery, repoQuery } from './shell/places.ts'
import { rewrite } from './shell/rewrite.ts'
import { Shell, Waiting } from './shell/Shell.tsx'
import { PageProblem } from './ui/Problem.tsx'

// The table of all addresses. To the router an organization is at /o/{org}; people see /{org} (shell/rewrite.ts).
// A page is one entry here and one file in pages/; `tab` puts it among the tabs of its layout, and `key` after `g`.

const root = createRootRouteWithContext()({ component: Shell, loader: loadShell })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/HomePage.tsx'), 'HomePage'),
})
const newRepository = createRoute({
  getParentRoute: () => root,
  path: '/new',
  component: lazyRouteComponent(() => import('./pages/repository/NewPage.tsx'), 'NewPage'),
  validateSearch: (search: Record<string, unknown>): { org?: string; way?: 'empty' | 'import' } => ({
    ...(typeof search.org === 'string' && { org: search.org }),
    ...(search.way === 'import' && { way: 'import' }),
  }),
})

// An organization: /{org}/…
const org = createRoute({ getParentRoute: () => root, path: '/o/$org' })
const orgPages = createRoute({
  getParentRoute: () => org,
  id: 'pages',
  component: OrgLayout,
  loader: ({ params }: { params: { org: string } }) => queryClient.ensureQueryData(orgQuery(params.org)),
})
const repositories = createRoute({
  getParentRoute: () => orgPages,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/RepositoriesPage.tsx'), 'RepositoriesPage'),
  staticData: { tab: { label: 'Repositories', key: 'r' } },
})

const people = createRoute({
  getParentRoute: () => orgPages,
  path: '/people',
  component: lazyRouteComponent(() => import('./pages/people/PeoplePage.tsx'), 'PeoplePage'),
  staticData: { tab: { label: 'People', key: 'p' } },
})
const agents = createRoute({
  getParentRoute: () => orgPages,
  path: '/agents',
  component: lazyRouteComponent(() => import('./pages/people/AgentsPage.tsx'), 'AgentsPage'),
  staticData: { tab: { label: 'Agents', key: 'n' } },
})
const orgSettings = createRoute({
  getParentRoute: () => orgPages,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/people/OrgSettingsPage.tsx'), 'OrgSettingsPage'),
  staticData: { tab: { label: 'Settings', key: 's' } },
})
const newOrg = createRoute({
  getParentRoute: () => root,
  path: '/organizations/new',
  component: lazyRouteComponent(() => import('./pages/people/NewOrgPage.tsx'), 'NewOrgPage'),
})

const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  component: lazyRouteComponent(() => import('./pages/admin/AdminPage.tsx'), 'AdminPage'),
})

// What belongs to a person. The server renders /account/sessions and /account/security itself.
const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/AccountLayout.tsx'), 'AccountLayout'),
})
const profile = createRoute({
  getParentRoute: () => account,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/account/AccountPage.tsx'), 'AccountPage'),
})
const keys = createRoute({
  getParentRoute: () => account,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/account/KeysPage.tsx'), 'KeysPage'),
  validateSearch: ({ org }: { org?: string }) => (typeof org === 'string' ? { org } : {}),
})
const ownAgents = createRoute({
  getParentRoute: () => account,
  path: '/agents',
  component: lazyRouteComponent(() => import('./pages/account/AgentsOfMine.tsx'), 'AgentsOfMine'),
})

const orgActivity = createRoute({
  getParentRoute: () => orgPages,
  path: '/activity',
  validateSearch: searchOfActivity,
  component: lazyRouteComponent(() => import('./pages/activity/ActivityPage.tsx'), 'OrgActivityPage'),
  staticData: { tab: { label: 'Activity', key: 'a' } },
})

// A repository: /{org}/{repo}/…
const repo = createRoute({
  getParentRoute: () => org,
  path: '/$repo',
  component: RepoLayout,
  loader: ({ params }) => queryClient.ensureQueryData(repoQuery(params.org, params.repo)),
})
const code = createRoute({
  getParentRoute: () => repo,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/code/CodePage.tsx'), 'CodePage'),
  loader: async ({ params }) => (await codeLoading()).loadFront(params),
  staticData: { tab: { label: 'Code', key: 'c' } },
})

// Programs: extensions, promotion, runs, daemons.
const program = {
  getParentRoute: () => repo,
  errorComponent: lazyRouteComponent(() => import('./pages/programs/ProgramsProblem.tsx'), 'ProgramsProblem'),
}
const extensions = createRoute({
  ...program,
  path: '/extensions',
  component: lazyRouteComponent(() => import('./pages/programs/ExtensionsPage.tsx'), 'ExtensionsPage'),
  validateSearch: texts('ref'),
  staticData: { tab: { label: 'Extensions', key: 'x' } },
})
const extension = createRoute({
  ...program,
  path: '/extensions/$name',
  component: lazyRouteComponent(() => import('./pages/programs/ExtensionPage.tsx'), 'ExtensionPage'),
  validateSearch: texts('ref', 'from'),
})
const promote = createRoute({
  ...program,
  path: '/promote',
  component: lazyRouteComponent(() => import('./pages/programs/PromotePage.tsx'), 'PromotePage'),
  validateSearch: texts('ref'),
})
const runs = createRoute({
  ...program,
  path: '/runs',
  component: lazyRouteComponent(() => import('./pages/programs/RunsPage.tsx'), 'RunsPage'),
  validateSearch: texts('status', 'extension', 'trigger'),
  staticData: { tab: { label: 'Runs', key: 'r' } },
})
const run = createRoute({
  ...program,
  path: '/runs/$id',
  component: lazyRouteComponent(() => import('./pages/programs/RunPage.tsx'), 'RunPage'),
})
const daemons = createRoute({
  ...program,
  path: '/daemons',
  component: lazyRouteComponent(() => import('./pages/programs/DaemonsPage.tsx'), 'DaemonsPage'),
  staticData: { tab: { label: 'Daemons', key: 'd' } },
})

const access = createRoute({
  getParentRoute: () => repo,
  path: '/access',
  component: lazyRouteComponent(() => import('./pages/access/AccessPage.tsx'), 'AccessPage'),
  staticData: { tab: { label: 'Access', key: 'k' } },
})

/** Of a query these are known, as texts; whatever else stands there is nobody's. */
function texts<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [N in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return value === undefined || value === '' ? [] : [[name, String(value)]]
      }),
    ) as { [N in Name]?: string }
}

const commit = createRoute({
  getParentRoute: () => repo,
  path: '/commit/$oid',
  component: lazyRouteComponent(() => import('./pages/changes/CommitPage.tsx'), 'CommitPage'),
  errorComponent: lazyRouteComponent(() => import('./pages/changes/CommitProblem.tsx'), 'CommitProblem'),
  staticData: { under: 'Code' },
  validateSearch: (search: Record<string, unknown>): { w?: boolean; parent?: number } => ({
    ...(search.w === true && { w: true }),
    ...(Number.isInteger(search.parent) && { parent: Number(search.parent) }),
  }),
})
const compare = createRoute({
  getParentRoute: () => repo,
  path: '/compare/$',
  component: lazyRouteComponent(() => import('./pages/changes/ComparePage.tsx'), 'ComparePage'),
  staticData: { under: 'Branches' },
  validateSearch: (search: Record<string, unknown>): { w?: boolean } =>
    search.w === true ? { w: true } : {},
})
const branches = createRoute({
  getParentRoute: () => repo,
  path: '/branches',
  component: lazyRouteComponent(() => import('./pages/changes/refs/BranchesPage.tsx'), 'BranchesPage'),
  staticData: { tab: { label: 'Branches', key: 'b' } },
})
const tags = createRoute({
  getParentRoute: () => repo,
  path: '/tags',
  component: lazyRouteComponent(() => import('./pages/changes/refs/TagsPage.tsx'), 'TagsPage'),
  staticData: { under: 'Branches' },
})
const fork = createRoute({
  getParentRoute: () => repo,
  path: '/fork',
  component: lazyRouteComponent(() => import('./pages/repository/ForkPage.tsx'), 'ForkPage'),
  staticData: { under: 'Settings' },
})
const repoSettings = createRoute({
  getParentRoute: () => repo,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/repository/SettingsPage.tsx'), 'SettingsPage'),
  staticData: { tab: { label: 'Settings', key: 's' } },
})

// Their addresses end in a ref and a path, both of which may have slashes.
const codeLoading = () => import('./pages/code/loading.ts')
const codePage = {
  getParentRoute: () => repo,
  errorComponent: lazyRouteComponent(() => import('./pages/code/CodeProblem.tsx'), 'CodeProblem'),
  staticData: { under: 'Code' },
}
const tree = createRoute({
  ...codePage,
  path: '/tree/$',
  component: lazyRouteComponent(() => import('./pages/code/TreePage.tsx'), 'TreePage'),
  loader: async ({ params }) => (await codeLoading()).loadTree(params),
})
const blob = createRoute({
  ...codePage,
  path: '/blob/$',
  component: lazyRouteComponent(() => import('./pages/code/BlobPage.tsx'), 'BlobPage'),
  loader: async ({ params }) => (await codeLoading()).loadBlob(params),
})
const blame = createRoute({
  ...codePage,
  path: '/blame/$',
  component: lazyRouteComponent(() => import('./pages/code/BlamePage.tsx'), 'BlamePage'),
  loader: async ({ params }) => (await codeLoading()).loadBlob(params),
})
const commits = createRoute({
  ...codePage,
  path: '/commits/$',
  component: lazyRouteComponent(() => import('./pages/code/CommitsPage.tsx'), 'CommitsPage'),
  loader: async ({ params }) => (await codeLoading()).loadPlace(params),
})

const search = createRoute({
  ...codePage,
  path: '/search',
  component: lazyRouteComponent(() => import('./pages/code/SearchPage.tsx'), 'SearchPage'),
  validateSearch: (search: Record<string, unknown>) => ({
    ...texts('q', 'ref', 'path')(search),
    ...(search.case === true && { case: true }),
  }),
})

// Data and what happens: records, webhooks, activity.
const data = {
  getParentRoute: () => repo,
  errorComponent: lazyRouteComponent(() => import('./pages/records/DataProblem.tsx'), 'DataProblem'),
}
const records = createRoute({
  ...data,
  path: '/records',
  component: lazyRouteComponent(() => import('./pages/records/CollectionsPage.tsx'), 'CollectionsPage'),
  staticData: { tab: { label: 'Records', key: 'e' } },
})
const record = createRoute({
  ...data,
  path: '/records/$record',
  validateSearch: searchOfRows,
  component: lazyRouteComponent(() => import('./pages/records/RecordPage.tsx'), 'RecordPage'),
})
const newRow = createRoute({
  ...data,
  path: '/records/$record/new',
  component: lazyRouteComponent(() => import('./pages/records/NewRowPage.tsx'), 'NewRowPage'),
})
const row = createRoute({
  ...data,
  path: '/records/$record/$id',
  component: lazyRouteComponent(() => import('./pages/records/RowPage.tsx'), 'RowPage'),
})
const webhooks = createRoute({
  ...data,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
  staticData: { tab: { label: 'Webhooks', key: 'w' } },
})
const newWebhook = createRoute({
  ...data,
  // No webhook has such a name.
  path: '/webhooks/-/new',
  component: lazyRouteComponent(() => import('./pages/webhooks/NewWebhookPage.tsx'), 'NewWebhookPage'),
})
const webhook = createRoute({
  ...data,
  path: '/webhooks/$webhook',
  validateSearch: searchOfDeliveries,
  component: lazyRouteComponent(() => import('./pages/webhooks/WebhookPage.tsx'), 'WebhookPage'),
})
const delivery = createRoute({
  ...data,
  path: '/webhooks/$webhook/deliveries/$delivery',
  component: lazyRouteComponent(() => import('./pages/webhooks/DeliveryPage.tsx'), 'DeliveryPage'),
})
const activity = createRoute({
  getParentRoute: () => repo,
  path: '/activity',
  validateSearch: searchOfActivity,
  component: lazyRouteComponent(() => import('./pages/activity/ActivityPage.tsx'), 'RepoActivityPage'),
  staticData: { tab: { label: 'Activity', key: 'a' } },
})

/** What the bar above every page shows. Whoever is not signed in is on the way to where they can. */
async function loadShell(): Promise<void> {
  const known = [selfQuery(), personQuery, organizationsQuery].map((options) =>
    queryClient.ensureQueryData(options as never),
  )
  await Promise.all(known).catch((error) => {
    if (isApiError(error, 'UNAUTHENTICATED')) return new Promise(() => {})
    throw error
  })
}

const routeTree = root.addChildren([
  home,
  newOrg,
  newRepository,
  admin,
  account.addChildren([profile, keys, ownAgents]),
  org.addChildren([
    orgPages.addChildren([repositories, orgActivity, people, agents, orgSettings]),
    repo.addChildren([
      code,
      commit,
      compare,
      branches,
      tags,
      tree,
      blob,
      blame,
      commits,
      search,
      extensions,
      extension,
      promote,
      runs,
      run,
      daemons,
      records,
      record,
      newRow,
      row,
      webhooks,
      newWebhook,
      webhook,
      delivery,
      activity,
      access,
      fork,
      repoSettings,
    ]),
  ]),
])

export const router = createRouter({
  routeTree,
  rewrite,
  defaultPreload: 'intent',
  // What is fresh is the queries' to know.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultErrorComponent: ({ error }) => (isNotThere(error) ? <NothingHere /> : <PageProblem error={error} />),
  defaultNotFoundComponent: NothingHere,
  defaultPendingComponent: Waiting,
  defaultPendingMs: 150,
  defaultPendingMinMs: 0,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface StaticDataRouteOption {
    tab?: { label: string; key: string }
    /** Of a page that is no tab: the label of the one it belongs to. */
    under?: string
  }
}
