import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { hashPassword } from 'better-auth/crypto'
import type { Clock } from '../clock.ts'
import { bySystem } from '../events/service.ts'
import type { NewId } from '../ids.ts'
import type { KeysService } from '../keys/service.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Database } from '../schema.ts'
import { keptSecret } from '../secret-files.ts'
import { mintSecret } from '../secrets.ts'
import * as store from './store.ts'

export interface FirstOwnerDeps {
  database: Database
  orgs: OrgsService
  keys: KeysService
  clock: Clock
  newId: NewId
  dataDir: string
  owner: { email: string; key: string | undefined; password: string | undefined }
}

/**
 * On an empty store, makes the owner's account with an API key, so that a newcomer's first call works; gives the key.
 * The secrets reach the disk before the account is committed: a crash in between leaves files that the next start uses.
 */
export async function ensureOwner(deps: FirstOwnerDeps): Promise<string | undefined> {
  const { database, orgs, keys, clock, newId, dataDir, owner } = deps
  if (await store.anyUserExists(database.db)) return undefined

  const key = owner.key ?? (await keptSecret(join(dataDir, 'owner.key'), () => mintSecret('trk')))
  const password =
    owner.password ??
    (await keptSecret(join(dataDir, 'owner.password'), () => randomBytes(18).toString('base64url')))
  const passwordHash = await hashPassword(password)

  return database.transactAlone(async (tx) => {
    // Another process may have been first.
    if (await store.anyUserExists(tx)) return undefined
    const user = { id: newId('usr'), name: 'Owner', email: owner.email }
    await store.insertUser(tx, { ...user, accountId: newId('acc'), passwordHash, now: clock() })
    const org = await orgs.createPersonalIn(tx, user)
    const account = { orgId: org.id, userId: user.id }
    await keys.createIn(tx, bySystem, account, { name: 'First start', scopes: ['*'], secret: key })
    return key
  })
}
