import { queryOptions } from '@tanstack/react-query'
import { readError, unreachable } from './errors.ts'
import { query } from './queries.ts'

/** Who is calling, and in which organization: that which is named, or the person's own. */
export const selfQuery = (org?: string) => query(org, (api) => api.credentials.self, {})

/** All organizations the person can act in, as far as a menu shows them. */
export const organizationsQuery = query(undefined, (api) => api.orgs.list, { limit: 100 })

/** Whether the server is theirs. It stays so. */
export const ownsServerQuery = {
  ...query(undefined, (api) => api.admin.self, {}),
  staleTime: Number.POSITIVE_INFINITY,
  // A page is there without what only the owner sees.
  throwOnError: false,
}

interface Person {
  id: string
  name: string
  email: string
}

/** The person who is signed in, with the name they gave. */
export const personQuery = queryOptions({
  queryKey: ['', 'auth/get-session'],
  staleTime: 5 * 60_000,
  queryFn: async ({ signal }): Promise<Person | null> => {
    const response = await fetch('/api/auth/get-session', { signal }).catch((error: unknown) => {
      throw signal.aborted ? error : unreachable()
    })
    if (!response.ok) throw await readError(response)
    const session: { user: Person } | null = await response.json()
    return session?.user ?? null
  },
})

export const updatePerson = (changes: { name: string }): Promise<void> => askAuth('update-user', changes)

export async function signOut(): Promise<void> {
  await askAuth('sign-out', {})
  location.assign('/login')
}

async function askAuth(route: string, body: object): Promise<void> {
  const response = await fetch(`/api/auth/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw await readError(response)
}
