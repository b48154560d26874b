import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CredentialEnding } from '../access/endings.ts'
import type { KeysService } from '../keys/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database } from '../schema.ts'
import { keptSecret } from '../secrets/files.ts'
import { mintSecret } from '../secrets/minting.ts'
import { createOwnerAccess } from './owner-access.ts'
import type { Passwords } from './passwords.ts'
import * as store from './store.ts'

interface FirstOwnerDeps {
  database: Database
  keys: KeysService
  credentialEnding: CredentialEnding
  clock: Clock
  newId: NewId
  passwords: Passwords
  dataDir: string
  baseUrl: string
  config: Config
}

/** What an operator is told once. */
interface FirstAccess {
  key: string
  /** Opens once, for a day. */
  link: string
}

/**
 * On an empty store, makes the owner's account with an API key, so that a newcomer's first call works, and a link. The
 * key reaches the disk before the account is committed: a crash in between leaves a file that the next start uses. Later
 * on, sees to it that a key the operator chose is the owner's.
 */
export async function ensureOwner(deps: FirstOwnerDeps): Promise<FirstAccess | undefined> {
  const { database, keys, credentialEnding, clock, newId, passwords, dataDir, baseUrl, config } = deps
  const { owner, limits } = config
  const access = createOwnerAccess({ database, clock, newId, credentialEnding, limits })
  const keyFile = join(dataDir, 'owner.key')

  if (await store.anyUserExists(database.db)) {
    if (owner.key && (await access.useKey(owner.key))) await removeUnlessKnown()
    return undefined
  }

  const key = owner.key ?? (await keptSecret(keyFile, () => mintSecret('trk')))
  const passwordHash = owner.password && (await passwords.hash(owner.password))
  const link = await database.transactAlone(async (tx) => {
    // Another process may have been first.
    if (await store.anyUserExists(tx)) return undefined
    const user = { id: newId('usr'), name: 'Owner', email: owner.email }
    await store.insertUser(tx, { ...user, now: clock() })
    if (passwordHash)
      await store.setPassword(tx, { id: newId('acc'), userId: user.id, passwordHash, now: clock() })
    return access.establishIn(tx, user, key)
  })
  // The other process may keep its file elsewhere: then ours opens nothing.
  if (!link) await removeUnlessKnown()
  return link ? { key, link: `${baseUrl}/enter/${link}` } : undefined

  async function removeUnlessKnown(): Promise<void> {
    const kept = await readFile(keyFile, 'utf8').catch(() => undefined)
    if (kept !== undefined && !(await keys.isKnown(kept.trim()))) await rm(keyFile, { force: true })
  }
}
