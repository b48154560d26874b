import { useQuery } from '@tanstack/react-query'
import { useParams, useRouter } from '@tanstack/react-router'
import { query, queryClient } from '../api/queries.ts'
import { ownsServerQuery } from '../api/session.ts'
import { useActingOrg, useTabs } from '../shell/places.ts'
import { best, type Found, type Source } from './sources.ts'

/** Of repositories. */
const MOST_FOUND = 8
/** Of their names. */
const MOST_LETTERS = 64

const THIS_SERVER: Found = { id: 'page-admin', label: 'This server', icon: 'settings', go: '/admin' }

/** What can be found from everywhere: pages of where one is, and repositories. */
export function useOwnSources(): Source[] {
  const router = useRouter()
  const { repo } = useParams({ strict: false })
  const { data: server } = useQuery(ownsServerQuery)
  const org = useActingOrg()
  const tabs = useTabs(repo ? '/o/$org/$repo' : '/o/$org')
  const pages: Found[] = tabs.map(({ to, label }) => ({
    id: `page-${label}`,
    label,
    detail: repo ? `${org} / ${repo}` : org,
    icon: 'open',
    go: () => void router.navigate({ to, params: { org, repo } as never }),
  }))
  const elsewhere: Found[] = [
    { id: 'page-home', label: 'Home', icon: 'back', go: '/' },
    { id: 'page-account', label: 'Your account', icon: 'person', go: '/account' },
    { id: 'page-keys', label: 'Keys', icon: 'key', go: '/account/keys' },
    { id: 'page-new', label: 'New repository', icon: 'plus', go: '/new' },
    { id: 'page-new-org', label: 'New organization', icon: 'plus', go: '/organizations/new' },
    ...(server?.owner ? [THIS_SERVER] : []),
  ]
  const searchFor = (q: string): Found => ({
    id: 'search-code',
    label: `Search the code for “${q}”`,
    icon: 'search',
    go: () =>
      void router.navigate({ to: '/o/$org/$repo/search', params: { org, repo } as never, search: { q } }),
  })
  return [
    { name: 'Repositories', find: (text) => findRepositories(org, text) },
    { name: 'Pages', find: (text) => best(text, [...pages, ...elsewhere]) },
    // The last: whoever means a name finds it above.
    { name: 'Code', find: (text) => (repo && text ? [searchFor(text)] : []) },
  ]
}

async function findRepositories(org: string, text: string): Promise<Found[]> {
  const page = { limit: MOST_FOUND }
  const { items } = await (text === ''
    ? queryClient.ensureQueryData(query(org, (api) => api.repos.list, page))
    : queryClient.ensureQueryData(
        query(org, (api) => api.repos.search, { ...page, query: text.slice(0, MOST_LETTERS) }),
      ))
  return items.map(
    ({ name }): Found => ({
      id: `repo-${name}`,
      label: name,
      detail: org,
      icon: 'repository',
      go: `/o/${org}/${name}`,
    }),
  )
}
