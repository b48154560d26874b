import { createRouter } from '@tanstack/react-router'
import { isNotThere } from '../api/errors.ts'
import { NothingHere } from '../shell/Layouts.tsx'
import { rewrite } from '../shell/rewrite.ts'
import { Waiting } from '../shell/Shell.tsx'
import { PageProblem } from '../ui/Problem.tsx'
import { ofCode } from './code.ts'
import { ofData } from './data.ts'
import { ofOrganization, personal } from './organization.ts'
import { ofPrograms } from './programs.ts'
import { ofRepository } from './repository.ts'
import { org, orgPages, repo, root } from './root.ts'

const routeTree = root.addChildren([
  ...personal,
  org.addChildren([
    orgPages.addChildren(ofOrganization),
    repo.addChildren([...ofCode, ...ofPrograms, ...ofData, ...ofRepository]),
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
