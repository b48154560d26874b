import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { bySystem } from '../events/service.ts'
import type { KeysService } from '../keys/service.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database } from '../schema.ts'
import { keptSecret } from '../secrets/files.ts'
import { mintSecret } from '../secrets/minting.ts'
import type { Passwords } from './passwords.ts'
import * as store from './store.ts'

interface FirstOwnerDeps {
  database: Database
  orgs: OrgsService
  keys: KeysService
  clock: Clock
  newId: NewId
  passwords: Passwords
  dataDir: string
  owner: { email: string; key: string | undefined; password: string | undefined }
}

/**
 * On an empty store, makes the owner's account with an API key, so that a newcomer's first call works; gives the key.
 * The secrets reach the disk before the account is committed: a crash in between leaves files that the next start uses.
 */
export async function ensureOwner(deps: FirstOwnerDeps): Promise<string | undefined> {
  const { database, orgs, keys, clock, newId, passwords, dataDir, owner } = deps
  if (await store.anyUserExists(database.db)) return undefined

  const key = owner.key ?? (await keptSecret(join(dataDir, 'owner.key'), () => mintSecret('trk')))
  const passwordHash = canSignIn(owner.email) ? await passwords.hash(await passwordFor(deps)) : undefined

  const made = await database.transactAlone(async (tx) => {
    // Another process may have been first.
    if (await store.anyUserExists(tx)) return undefined
    const user = { id: newId('usr'), name: 'Owner', email: owner.email }
    await store.insertUser(tx, { ...user, now: clock() })
    if (passwordHash)
      await store.insertPassword(tx, { id: newId('acc'), userId: user.id, passwordHash, now: clock() })
    const org = await orgs.createPersonalIn(tx, user)
    const account = { orgId: org.id, userId: user.id }
    await keys.createIn(tx, bySystem, account, { name: 'First start', scopes: ['*'], secret: key })
    return key
  })
  // The other process may keep its files elsewhere: then ours open nothing.
  if (!made && !(await keys.isKnown(key)))
    for (const file of ['owner.key', 'owner.password']) await rm(join(dataDir, file), { force: true })
  return made
}

/** An address such as owner@localhost is good for a name, but no sign-in form takes it: that account has its key alone. */
const canSignIn = (email: string): boolean => z.email().safeParse(email).success

async function passwordFor({ owner, dataDir }: FirstOwnerDeps): Promise<string> {
  const make = () => randomBytes(18).toString('base64url')
  return owner.password ?? keptSecret(join(dataDir, 'owner.password'), make)
}
