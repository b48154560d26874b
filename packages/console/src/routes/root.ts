import { createRootRouteWithContext, createRoute } from '@tanstack/react-router'
import { isApiError } from '../api/errors.ts'
import { queryClient } from '../api/queries.ts'
import { organizationsQuery, personQuery, selfQuery } from '../api/session.ts'
import { goToSignIn } from '../api/sign-in.ts'
import { OrgLayout, RepoLayout } from '../shell/Layouts.tsx'
import { orgQuery, repoQuery } from '../shell/places.ts'
import { Shell } from '../shell/Shell.tsx'

// What pages are below. To the router an organization is at /o/{org} and its own pages at /o/{org}/~; people see other
// addresses (shell/rewrite.ts).

export const root = createRootRouteWithContext()({
  component: Shell,
  beforeLoad: knowPerson,
  loader: loadShell,
})

// /{org}/…
export const org = createRoute({ getParentRoute: () => root, path: '/o/$org' })

/** Its own pages, beside those of its repositories. */
export const orgPages = createRoute({
  getParentRoute: () => org,
  id: 'pages',
  component: OrgLayout,
  loader: ({ params }: { params: { org: string } }) => queryClient.ensureQueryData(orgQuery(params.org)),
})

// /{org}/{repo}/…
export const repo = createRoute({
  getParentRoute: () => org,
  path: '/$repo',
  component: RepoLayout,
  loader: ({ params }) => queryClient.ensureQueryData(repoQuery(params.org, params.repo)),
})

/** Asked before anything else: whoever is not signed in goes to where they can be, and nothing is refused on the way. */
async function knowPerson(): Promise<void> {
  if (await queryClient.ensureQueryData(personQuery)) return
  goToSignIn()
  await new Promise(() => {})
}

/** What the bar above every page shows. A session may have ended since it was known. */
async function loadShell(): Promise<void> {
  const known = [selfQuery(), organizationsQuery].map((options) =>
    queryClient.ensureQueryData(options as never),
  )
  await Promise.all(known).catch((error) => {
    if (isApiError(error, 'UNAUTHENTICATED')) return new Promise(() => {})
    throw error
  })
}

/** Of a query these are known, as texts; whatever else stands there is nobody's. */
export function texts<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [N in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return value === undefined || value === '' ? [] : [[name, String(value)]]
      }),
    ) as { [N in Name]?: string }
}
