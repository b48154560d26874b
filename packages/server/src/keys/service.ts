import type { ApiKey, NewApiKey, Scope } from '@trellis/contract'
import { type Caller, followsPerson, requirePower } from '../access/caller.ts'
import type { CredentialEnding } from '../access/endings.ts'
import { outlives, requireEndWithin } from '../access/lifetimes.ts'
import { type Power, scopePowers } from '../access/powers.ts'
import { type Author, by, type EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault, forbidden, invalid } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Tx } from '../schema.ts'
import { hashSecret, mintSecret, shownPrefix } from '../secrets/minting.ts'
import * as store from './store.ts'

interface KeysDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  credentialEnding: CredentialEnding
  clock: Clock
  newId: NewId
  limits: { keysPerUser: number }
}

interface NewKey {
  name: string
  scopes?: readonly Scope[] | undefined
  expiresAt?: number | null | undefined
}

/** The scope by which a key follows its maker. */
const ACCOUNT = 'account'

export type KeysService = ReturnType<typeof createKeysService>

/** API keys: a person's own, each made in one organization and for that alone, unless it follows its maker. */
export function createKeysService(deps: KeysDeps) {
  const { database, events, orgs, credentialEnding, clock, newId, limits } = deps
  const ownerOf = ({ org, actor }: Caller): store.KeyOwner => ({ orgId: org.id, userId: actor.id })

  function requireFuture(expiresAt: number | null | undefined): void {
    if (expiresAt != null && expiresAt <= clock()) throw invalid(['expiresAt'], 'This time has passed')
  }

  async function createIn(
    tx: Tx,
    author: Author,
    owner: store.KeyOwner,
    { name, scopes, expiresAt, secret }: NewKey & { scopes: readonly Scope[]; secret: string },
  ): Promise<NewApiKey> {
    const key = await store.insertKey(tx, {
      id: newId('key'),
      org_id: owner.orgId,
      user_id: owner.userId,
      name,
      prefix: shownPrefix(secret),
      secret_hash: hashSecret(secret),
      scopes: [...new Set(scopes)].join(' '),
      enabled: 1,
      expires_at: expiresAt ?? null,
      last_used_at: null,
      created_at: clock(),
    })
    await events.append(tx, { ...told(author, key), type: 'key.created' })
    return { ...present(key), secret }
  }

  /** Keys of one person. One that follows its maker may have started something in any organization of theirs. */
  async function revokedIn(tx: Tx, author: Author, userId: string, keys: readonly store.KeyRow[]) {
    for (const key of keys) await events.append(tx, { ...told(author, key), type: 'key.revoked' })
    const ids = keys.map(({ id }) => id)
    await credentialEnding.endIn(tx, { actorId: userId }, ids)
  }

  return {
    createIn,

    /** Whoever it is of, and whether it is good or not. */
    findBySecretIn: (tx: Tx, secret: string): Promise<store.KeyRow | undefined> =>
      store.findKeyByHash(tx, hashSecret(secret)),

    /** Ends a key of a person, in whichever organization it is. */
    async endIn(tx: Tx, author: Author, userId: string, id: string): Promise<void> {
      const key = await store.deleteKeyOf(tx, userId, id)
      if (key) await revokedIn(tx, author, userId, [key])
    },

    /** Ends all keys of a person, in every organization. */
    async endAllIn(tx: Tx, author: Author, userId: string): Promise<void> {
      await revokedIn(tx, author, userId, await store.deleteAllKeysOf(tx, userId))
    },

    isKnown: async (secret: string): Promise<boolean> =>
      (await store.findKeyByHash(database.db, hashSecret(secret))) !== undefined,

    async list(caller: Caller): Promise<{ items: ApiKey[] }> {
      requirePower(caller, 'keys:read')
      return { items: (await store.listKeys(database.db, ownerOf(caller))).map(present) }
    },

    async create(caller: Caller, input: NewKey): Promise<NewApiKey> {
      requireFuture(input.expiresAt)
      // Without a time of its own it ends with what it is made with.
      const expiresAt = input.expiresAt ?? caller.expiresAt
      requireEndWithin(caller, expiresAt, 'expiresAt')
      requirePower(caller, 'keys:write')
      const scopes = input.scopes ?? caller.scopes.filter((scope) => scope !== ACCOUNT)
      requireNoMoreThanOwn(caller, scopes)
      const owner = ownerOf(caller)
      const limit = limits.keysPerUser
      return database.transact(async (tx) => {
        await orgs.lockIn(tx, owner.orgId)
        await orgs.requireStillMemberIn(tx, caller)
        const observed = await store.countKeys(tx, owner)
        if (observed >= limit) throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit, observed })
        return createIn(tx, by(caller), owner, { ...input, scopes, expiresAt, secret: mintSecret('trk') })
      })
    },

    async update(
      caller: Caller,
      { id, ...input }: Partial<NewKey> & { id: string; enabled?: boolean | undefined },
    ): Promise<ApiKey> {
      requireFuture(input.expiresAt)
      if (input.expiresAt !== undefined) requireEndWithin(caller, input.expiresAt, 'expiresAt')
      if (!(await store.findKey(database.db, ownerOf(caller), id))) throw new Fault('KEY_NOT_FOUND', { id })
      requirePower(caller, 'keys:write')
      if (input.scopes) requireNoMoreThanOwn(caller, input.scopes)
      return database.transact(async (tx) => {
        // It must not become a stronger one between the look and the change.
        await orgs.lockIn(tx, caller.org.id)
        const before = await store.findKey(tx, ownerOf(caller), id)
        if (!before) throw new Fault('KEY_NOT_FOUND', { id })
        requireNotStronger(caller, before)
        // What is not given stays out of the statement: somebody else may be changing it.
        const updated = await store.updateKey(tx, id, {
          name: input.name,
          scopes: input.scopes && [...new Set(input.scopes)].join(' '),
          enabled: input.enabled === undefined ? undefined : Number(input.enabled),
          expires_at: input.expiresAt,
        })
        if (!updated) throw new Fault('KEY_NOT_FOUND', { id })
        await events.append(tx, { ...told(by(caller), updated), type: 'key.updated' })
        // Whoever disables one stops whoever has it; that it may be enabled again brings nothing back.
        if (input.enabled === false) await credentialEnding.endIn(tx, { actorId: caller.actor.id }, [id])
        return present(updated)
      })
    },

    async revoke(caller: Caller, id: string): Promise<{ revoked: boolean }> {
      if (!(await store.findKey(database.db, ownerOf(caller), id))) throw new Fault('KEY_NOT_FOUND', { id })
      requirePower(caller, 'keys:write')
      return database.transact(async (tx) => {
        const key = await store.deleteKey(tx, ownerOf(caller), id)
        if (!key) throw new Fault('KEY_NOT_FOUND', { id })
        await revokedIn(tx, by(caller), key.user_id, [key])
        return { revoked: true }
      })
    },
  }
}

/** What every event of a key says. */
export const told = (author: Author, key: store.KeyRow) => ({
  ...author,
  scope: orgScope(key.org_id),
  subject: key.id,
  payload: { name: key.name, scopes: scopesOf(key) },
})

/** A key never gives more than the credential that made it. */
function requireNoMoreThanOwn(caller: Caller, scopes: readonly Scope[]): void {
  const missing = missingPower(caller, scopes)
  if (missing)
    throw forbidden(
      'scope_missing',
      `The credential of this request lacks ${missing}, so a key cannot have it from here`,
    )
}

/** Nobody changes or revives a key that can do more, or lives longer, than what they come with; ending it is another matter. */
function requireNotStronger(caller: Caller, key: store.KeyRow): void {
  const missing = missingPower(caller, scopesOf(key))
  if (missing)
    throw forbidden('scope_missing', `This key has ${missing}, which the credential of this request lacks`)
  if (outlives(caller, key.expires_at))
    throw new Fault('FORBIDDEN', {}, { message: 'This key lives longer than the credential of this request' })
}

function missingPower(caller: Caller, scopes: readonly Scope[]): Power | typeof ACCOUNT | undefined {
  const own = scopePowers(caller.scopes)
  if (scopes.includes(ACCOUNT) && !followsPerson(caller)) return ACCOUNT
  return [...scopePowers(scopes)].find((power) => !own.has(power))
}

const scopesOf = ({ scopes }: store.KeyRow) => scopes.split(' ') as Scope[]

function present(key: store.KeyRow): ApiKey {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: scopesOf(key),
    enabled: key.enabled === 1,
    expiresAt: key.expires_at,
    lastUsedAt: key.last_used_at,
    createdAt: key.created_at,
  }
}
