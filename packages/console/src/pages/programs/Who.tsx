import { useQuery } from '@tanstack/react-query'
import type { Actor } from '@trellis/contract'
import { query } from '../../api/queries.ts'
import { personQuery } from '../../api/session.ts'

/** Who did something: a person by the name they have in the organization, as far as its first hundred go. */
export function Who({ org, actor: { kind, id } }: { org: string; actor: Actor }) {
  const { data: person } = useQuery(personQuery)
  const { data: members } = useQuery({
    ...query(org, (api) => api.members.list, { orgSlug: org, limit: 100 }),
    staleTime: 5 * 60_000,
    // Not everybody who sees a repository sees who else does.
    throwOnError: false,
    enabled: kind === 'user' && id !== person?.id,
  })
  if (kind === 'system') return <>the server</>
  if (kind === 'anonymous') return <>somebody without an account</>
  if (id === person?.id) return <>you</>
  const name = members?.items.find(({ userId }) => userId === id)?.name
  return <span title={id}>{name ?? `${kind === 'user' ? 'somebody' : kind} ${id.slice(-6)}`}</span>
}
