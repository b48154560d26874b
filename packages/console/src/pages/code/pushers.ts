import { useQuery } from '@tanstack/react-query'
import { useActorName } from '../../activity/actors.ts'
import { query } from '../../api/queries.ts'

/** So many of the last pushes are looked at. */
const PUSHES = 100

export interface Pusher {
  isAgent: boolean
  name: string
}

/**
 * Who pushed the commits that refs were moved to lately, as the log knows it: what a commit says of its author anybody
 * can write.
 */
export function usePushers(org: string, name: string): Map<string, Pusher> {
  const { data: pushes } = useQuery({
    ...query(org, (api) => api.events.list, { name, types: ['git.push'], order: 'newest', limit: PUSHES }),
    throwOnError: false,
  })
  const nameOf = useActorName(org)
  const pushers = new Map<string, Pusher>()
  // The oldest of those that moved a ref to a commit brought it.
  for (const { actor, payload } of pushes?.items ?? []) {
    const { after } = (payload ?? {}) as { after?: unknown }
    if (typeof after === 'string')
      pushers.set(after, { isAgent: actor.kind === 'agent', name: nameOf(actor) })
  }
  return pushers
}
