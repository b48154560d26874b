import type { Actor, Cause, Role, Scope } from '@trellis/contract'
import { forbidden } from '../platform/fault.ts'
import type { Tx } from '../schema.ts'
import { type Power, rolePowers, scopePowers } from './powers.ts'

/** The organization a request acts in. */
export interface ActingOrg {
  readonly id: string
  readonly slug: string
  readonly frozen: boolean
  /** Nobody has taken it over yet: it is small, and ends by itself. */
  readonly provisional: boolean
}

/**
 * Who is calling: one actor inside one organization, with what its role and its credential allow together. Several
 * requests may share one.
 */
export interface Caller {
  readonly actor: Actor
  readonly credential: { kind: 'session' | 'key' | 'token' | 'agent' | 'anonymous'; id: string }
  readonly org: ActingOrg
  /** The actor's role in the acting organization. */
  readonly role: Role
  readonly scopes: readonly Scope[]
  /**
   * When the credential ends for good; null for one without an end, and for a session, which stands for the person. What
   * a caller makes lasts no longer. The tokens of an agent are renewed, so for them it is when the agent ends.
   */
  readonly expiresAt: number | null
  /** Set when the credential opens this one repository and nothing else. */
  readonly onlyRepoId?: string
  /** Set when the credential moves only refs that match one of these patterns. */
  readonly onlyRefs?: readonly string[]
  /** What an agent calls itself; nobody has checked it. */
  readonly agentName?: string
  /** Set when it is a run that acts: whatever it does tells why. */
  readonly cause?: Cause
  /** Set when somebody may stop it in the midst of what it does: throws in the transaction of that when they have. */
  requireGoingOnIn?(tx: Tx): Promise<void>
}

export const actingOrg = (row: { id: string; slug: string; frozen: number; kind: string }): ActingOrg => ({
  id: row.id,
  slug: row.slug,
  frozen: row.frozen === 1,
  provisional: row.kind !== 'team',
})

export const can = ({ role, scopes }: Caller, power: Power): boolean =>
  rolePowers(role).has(power) && scopePowers(scopes).has(power)

/** Whether it stands for the person wherever they are a member, and not for them in one organization alone. */
export const followsPerson = ({ credential, scopes }: Caller): boolean =>
  credential.kind === 'session' || (credential.kind === 'key' && scopes.includes('account'))

/** The one place where power is refused. */
export function requirePower(caller: Caller, power: Power): void {
  if (!rolePowers(caller.role).has(power))
    throw forbidden('insufficient_role', `This needs ${power}, which the role ${caller.role} does not give`)
  requireScope(caller, power)
}

export function requireScope({ scopes }: Caller, power: Power): void {
  if (!scopePowers(scopes).has(power))
    throw forbidden('scope_missing', `The credential of this request lacks the scope ${power}`)
}

export function requireOwner(caller: Caller): void {
  if (caller.role !== 'owner')
    throw forbidden('insufficient_role', `Only an owner may do this, and the caller's role is ${caller.role}`)
}

export function requireThawed({ org }: Caller): void {
  if (org.frozen) throw forbidden('write_frozen')
}
