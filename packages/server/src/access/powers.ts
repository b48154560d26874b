import type { Role, Scope } from '@trellis/contract'

/**
 * One thing a caller may do. A scope other than `*` names the power it gives, and with it the lesser ones; `account` gives
 * none, it says where the others hold.
 */
export type Power = Exclude<Scope, '*' | 'account'>

const includes: Record<Power, readonly Power[]> = {
  'repo:read': ['repo:read'],
  'repo:write': ['repo:read', 'repo:write'],
  'repo:admin': ['repo:read', 'repo:write', 'repo:admin'],
  'org:read': ['org:read'],
  'org:admin': ['org:read', 'org:admin'],
  'keys:read': ['keys:read'],
  'keys:write': ['keys:read', 'keys:write'],
}

const everything = new Set(Object.keys(includes) as Power[])

const roles: Record<Role, ReadonlySet<Power>> = {
  member: expand(['repo:write', 'org:read', 'keys:write']),
  admin: expand(['repo:admin', 'org:admin', 'keys:write']),
  owner: everything,
}

export const rolePowers = (role: Role): ReadonlySet<Power> => roles[role]

const powersOf = new WeakMap<readonly Scope[], ReadonlySet<Power>>()

/** Nobody changes the scopes of a caller, so what they give is found out once. */
export function scopePowers(scopes: readonly Scope[]): ReadonlySet<Power> {
  const known = powersOf.get(scopes)
  if (known) return known
  const powers = scopes.includes('*') ? everything : expand(scopes.filter(isPower))
  powersOf.set(scopes, powers)
  return powers
}

const isPower = (scope: Scope): scope is Power => Object.hasOwn(includes, scope)

function expand(powers: readonly Power[]): ReadonlySet<Power> {
  return new Set(powers.flatMap((power) => includes[power]))
}

/** What an agent may do before a person has claimed it, and afterwards: in its own organization only. */
export const PRE_CLAIM_SCOPES: readonly Scope[] = ['repo:read', 'repo:write']
export const POST_CLAIM_SCOPES: readonly Scope[] = ['repo:read', 'repo:write', 'repo:admin', 'org:read']
