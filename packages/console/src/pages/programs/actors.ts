import type { Actor } from '@trellis/contract'

/** Who did something, as far as the page knows them. */
export function actorWords({ kind, id }: Actor, self: string | undefined): string {
  if (kind === 'system') return 'the server'
  if (id === self) return 'you'
  if (kind === 'anonymous') return 'somebody without an account'
  return `${kind === 'user' ? 'somebody' : kind} ${id.slice(-6)}`
}
