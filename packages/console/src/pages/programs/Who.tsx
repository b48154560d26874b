import { useQuery } from '@tanstack/react-query'
import type { Actor } from '@trellis/contract'
import { useActorName } from '../../activity/actors.ts'
import { personQuery } from '../../api/session.ts'

/** Who did something, as whoever looks at it calls them. */
export function Who({ org, actor }: { org: string; actor: Actor }) {
  const { data: person } = useQuery(personQuery)
  const nameOf = useActorName(org)
  return <span title={actor.id}>{actor.id === person?.id ? 'you' : nameOf(actor)}</span>
}
