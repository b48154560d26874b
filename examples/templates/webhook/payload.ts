import type { Payload } from '@trellis/extension'

/** Given what a webhook without a payload would send, it makes the body. There is no `ctx`: it can do nothing else. */
const payload: Payload = ({ subject, actor, repo }) => ({
  text: `${actor.kind} ${actor.id} pushed ${subject ?? ''} to ${repo.owner}/${repo.name}`,
})

export default payload
