import type { Author } from '../events/service.ts'
import type { Tx } from '../schema.ts'

/** Somebody in an organization: a person, an agent, a caller without an account. */
interface Standing {
  orgId: string
  actorId: string
}

/** What becomes of the things a domain keeps for an actor. Every domain that hands something out gives one. */
export interface Ending {
  /** The actor's access ends, and with it what they handed out. */
  endIn(tx: Tx, author: Author, who: Standing): Promise<void>
}

/** Whose credentials: of an actor in one organization, or wherever they are a member when none is named. */
export interface Holder {
  actorId: string
  orgId?: string
}

/** What becomes of the things that were set off with credentials which somebody revokes. */
export interface CredentialEnding {
  endIn(tx: Tx, holder: Holder, credentialIds: readonly string[]): Promise<void>
}

/** All endings as one. */
export const together = (endings: readonly Ending[]): Ending => ({
  async endIn(tx, author, who) {
    for (const ending of endings) await ending.endIn(tx, author, who)
  },
})
