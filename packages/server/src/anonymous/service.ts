import { randomBytes } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import { anonymousCaller, callerOfAnonymous } from '../access/credentials.ts'
import type { Ending } from '../access/endings.ts'
import { type Author, by } from '../events/service.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Throttles } from '../platform/throttles.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database, Tx } from '../schema.ts'
import { hashSecret } from '../secrets/minting.ts'
import * as store from './store.ts'

interface AnonymousDeps {
  database: Database
  orgs: OrgsService
  repos: ReposService
  throttles: Throttles
  clock: Clock
  newId: NewId
  limits: { anonymousReposPerAddress: number; provisionalMs: number }
  /** What a caller without an account has handed out. */
  ending: Ending
}

export type AnonymousService = ReturnType<typeof createAnonymousService>

/** People and programs without an account, each with a small organization that ends by itself. */
export function createAnonymousService(deps: AnonymousDeps) {
  const { database, orgs, repos, throttles, clock, newId, limits, ending } = deps

  return {
    find: (secret: string): Promise<Caller | undefined> => callerOfAnonymous(database.db, hashSecret(secret)),

    /** Somebody new, and the secret by which they are known again. */
    async createIn(tx: Tx, address: string): Promise<{ caller: Caller; secret: string }> {
      const secret = randomBytes(32).toString('base64url')
      const expiresAt = clock() + limits.provisionalMs
      const id = newId('anon')
      const author: Author = { actor: { kind: 'anonymous', id }, credentialId: id }
      const org = await orgs.createProvisionalIn(tx, { kind: 'anonymous', expiresAt, address, author })
      await store.insertCaller(tx, {
        id,
        secret_hash: hashSecret(secret),
        org_id: org.id,
        created_at: clock(),
      })
      return { caller: anonymousCaller(id, org), secret }
    },

    /** `address` is undefined for callers no limit by address applies to. */
    async requireRoomIn(tx: Tx, address: string | undefined): Promise<void> {
      if (address === undefined) return
      await throttles.lockIn(tx, `anonymous address ${address}`)
      const observed = await orgs.countReposFrom(tx, address)
      const limit = limits.anonymousReposPerAddress
      if (observed >= limit) throw new Fault('QUOTA_EXCEEDED', { scope: 'anon', limit, observed })
    },

    /**
     * Whoever signs in keeps the repositories they made before they had an account. The links they gave away end, with
     * the clones taken from them: those were for something small that ends by itself, not for what belongs to a person.
     */
    async adopt(secret: string, person: Caller): Promise<void> {
      if (!(await callerOfAnonymous(database.db, hashSecret(secret)))) return
      await database.transact(async (tx) => {
        const taken = await store.takeCaller(tx, hashSecret(secret))
        if (!taken) return
        await orgs.takeOverIn(tx, taken.org_id, { ...by(person), userId: person.actor.id })
        await repos.liftExpiryIn(tx, taken.org_id)
        await ending.endIn(tx, by(person), { orgId: taken.org_id, actorId: taken.id })
      })
    },
  }
}
