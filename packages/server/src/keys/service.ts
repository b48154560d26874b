import type { ApiKey, NewApiKey, Scope } from '@trellis/contract'
import { type Caller, requirePower } from '../access/caller.ts'
import { scopePowers } from '../access/powers.ts'
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
  clock: Clock
  newId: NewId
  limits: { keysPerUser: number }
}

interface NewKey {
  name: string
  scopes?: readonly Scope[] | undefined
  expiresAt?: number | null | undefined
}

export type KeysService = ReturnType<typeof createKeysService>

/** API keys: a person's own, each for one organization. */
export function createKeysService({ database, events, orgs, clock, newId, limits }: KeysDeps) {
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

  return {
    createIn,

    isKnown: (secret: string): Promise<boolean> => store.isKnownHash(database.db, hashSecret(secret)),

    async list(caller: Caller): Promise<{ items: ApiKey[] }> {
      requirePower(caller, 'keys:read')
      return { items: (await store.listKeys(database.db, ownerOf(caller))).map(present) }
    },

    async create(caller: Caller, input: NewKey): Promise<NewApiKey> {
      requireFuture(input.expiresAt)
      requirePower(caller, 'keys:write')
      const scopes = input.scopes ?? caller.scopes
      requireNoMoreThanOwn(caller, scopes)
      const owner = ownerOf(caller)
      const limit = limits.keysPerUser
      return database.transact(async (tx) => {
        await orgs.lockIn(tx, owner.orgId)
        await orgs.requireStillMemberIn(tx, caller)
        const observed = await store.countKeys(tx, owner)
        if (observed >= limit) throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit, observed })
        return createIn(tx, by(caller), owner, { ...input, scopes, secret: mintSecret('trk') })
      })
    },

    async update(
      caller: Caller,
      { id, ...input }: Partial<NewKey> & { id: string; enabled?: boolean | undefined },
    ): Promise<ApiKey> {
      requireFuture(input.expiresAt)
      if (!(await store.findKey(database.db, ownerOf(caller), id))) throw new Fault('KEY_NOT_FOUND', { id })
      requirePower(caller, 'keys:write')
      if (input.scopes) requireNoMoreThanOwn(caller, input.scopes)
      return database.transact(async (tx) => {
        // What is not given stays out of the statement: somebody else may be changing it.
        const updated = await store.updateKey(tx, id, {
          name: input.name,
          scopes: input.scopes && [...new Set(input.scopes)].join(' '),
          enabled: input.enabled === undefined ? undefined : Number(input.enabled),
          expires_at: input.expiresAt,
        })
        if (!updated) throw new Fault('KEY_NOT_FOUND', { id })
        await events.append(tx, { ...told(by(caller), updated), type: 'key.updated' })
        return present(updated)
      })
    },

    async revoke(caller: Caller, id: string): Promise<{ revoked: boolean }> {
      if (!(await store.findKey(database.db, ownerOf(caller), id))) throw new Fault('KEY_NOT_FOUND', { id })
      requirePower(caller, 'keys:write')
      return database.transact(async (tx) => {
        const key = await store.deleteKey(tx, ownerOf(caller), id)
        if (!key) throw new Fault('KEY_NOT_FOUND', { id })
        await events.append(tx, { ...told(by(caller), key), type: 'key.revoked' })
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
  payload: { name: key.name, scopes: key.scopes.split(' ') },
})

/** A key never gives more than the credential that made it. */
function requireNoMoreThanOwn(caller: Caller, scopes: readonly Scope[]): void {
  const own = scopePowers(caller.scopes)
  for (const power of scopePowers(scopes)) if (!own.has(power)) throw forbidden('scope_missing')
}

function present(key: store.KeyRow): ApiKey {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes.split(' '),
    enabled: key.enabled === 1,
    expiresAt: key.expires_at,
    lastUsedAt: key.last_used_at,
    createdAt: key.created_at,
  }
}
