import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams, useRouter } from '@tanstack/react-router'
import { rememberedOrganization } from '../api/acting.ts'
import { trellis } from '../api/client.ts'
import { query } from '../api/queries.ts'
import { organizationsQuery, selfQuery } from '../api/session.ts'

/**
 * The organization that is acted in: that of the address, or the last one. Whoever comes for the first time begins at
 * home, or, where they have nothing there, with those who invited them.
 */
export function useActingOrg(): string {
  const { org } = useParams({ strict: false })
  const { data: self } = useSuspenseQuery(selfQuery())
  const { data: all } = useSuspenseQuery(organizationsQuery)
  if (org) return org
  const last = rememberedOrganization()
  // It may be gone, or somebody else's who signed in here.
  const known = all.items.find(({ slug }) => slug === last)
  if (known) return known.slug
  const own = self.organization.slug
  const inUse = all.items.filter(({ repoCount }) => repoCount > 0)
  return (inUse.find(({ slug }) => slug === own) ?? inUse[0])?.slug ?? own
}

export const orgQuery = (org: string) => query(org, (api) => api.orgs.get, { orgSlug: org })

/** On pages of an organization: it, and the operations in it. */
export function useOrg() {
  const { org = '' } = useParams({ strict: false })
  const { data } = useSuspenseQuery(orgQuery(org))
  return { org, organization: data, api: trellis(org) }
}

export const repoQuery = (org: string, name: string) => query(org, (api) => api.repos.get, { name })

/** On pages of a repository: where it is, what is known of it, and the operations in its organization. */
export function useRepo() {
  const { org = '', repo: name = '' } = useParams({ strict: false })
  const { data } = useSuspenseQuery(repoQuery(org, name))
  return { org, name, repo: data, api: trellis(org) }
}

type TabAddress = '/o/$org' | '/o/$org/$repo'

export interface Tab {
  to: TabAddress
  label: string
  /** After `g` it leads here. */
  key: string
}

/** The pages below a layout that are a tab there, in the order of the table of routes. */
export function useTabs(layout: '/o/$org' | '/o/$org/$repo'): Tab[] {
  const { routesById } = useRouter()
  return Object.values(routesById).flatMap(({ id, fullPath, options }: AnyListedRoute) => {
    const tab = options.staticData?.tab
    const isOfRepo = id.startsWith('/o/$org/$repo/')
    const isBelow = id.startsWith(`${layout}/`) && isOfRepo === (layout === '/o/$org/$repo')
    return tab && isBelow ? [{ to: fullPath.replace(/\/$/, '') as TabAddress, ...tab }] : []
  })
}

interface AnyListedRoute {
  id: string
  fullPath: string
  options: { staticData?: { tab?: { label: string; key: string } } }
}
