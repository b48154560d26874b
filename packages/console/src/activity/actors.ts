import { useQuery } from '@tanstack/react-query'
import type { Actor } from '@trellis/contract'
import { query } from '../api/queries.ts'
import { actorName } from './words.ts'

/** Who did something, by name where they are a member of the organization. */
export function useActorName(org: string): (actor: Actor) => string {
  const { data } = useQuery({
    ...query(org, (api) => api.members.list, { orgSlug: org, limit: 100 }),
    // Names help, and everything can be read without them.
    throwOnError: false,
    staleTime: 5 * 60_000,
  })
  const names = new Map(data?.items.map(({ userId, name, email }) => [userId, name ?? email]))
  return (actor) => (actor.kind === 'user' && names.get(actor.id)) || actorName(actor)
}
