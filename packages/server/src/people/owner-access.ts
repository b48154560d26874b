import type { NewApiKey } from '@trellis/contract'
import type { CredentialEnding } from '../access/endings.ts'
import { bySystem, createEventsService } from '../events/service.ts'
import { createKeysService } from '../keys/service.ts'
import { createOrgsService } from '../orgs/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { NewId } from '../platform/ids.ts'
import { StartError } from '../platform/start-error.ts'
import type { Database, Tx } from '../schema.ts'
import { mintSecret } from '../secrets/minting.ts'
import { createEntryLinkIn } from './entry-links.ts'
import * as store from './store.ts'

interface OwnerAccessDeps {
  database: Database
  clock: Clock
  newId: NewId
  credentialEnding: CredentialEnding
  limits: Pick<Config['limits'], 'orgsPerUser' | 'provisionalMs' | 'keysPerUser'>
}

/** Somebody removed the account that was made at the first start. */
class OwnerGone extends StartError {
  constructor() {
    super(
      'The owner account that was made at the first start is gone: there is nobody to have a key or a link',
    )
  }
}

const SCOPES = ['*', 'account'] as const

/**
 * What the owner of the first start comes in with: a key, and a link for those who lost it. Needs the database and
 * nothing else, so that commands can give both beside a running server.
 */
export function createOwnerAccess(deps: OwnerAccessDeps) {
  const { database, clock, newId, credentialEnding, limits } = deps
  const events = createEventsService({ database, clock, newId })
  const orgs = createOrgsService({ database, events, clock, newId, limits })
  const keys = createKeysService({ database, events, orgs, credentialEnding, clock, newId, limits })

  async function getOwner(tx: Tx): Promise<store.OwnerRow> {
    const owner = await store.findOwner(tx)
    if (!owner) throw new OwnerGone()
    return owner
  }

  /** In place of the one they had from here. */
  async function giveKeyIn(tx: Tx, owner: store.OwnerRow, secret: string): Promise<NewApiKey> {
    const org = await orgs.createPersonalIn(tx, { ...owner, id: owner.user_id })
    const account = { orgId: org.id, userId: owner.user_id }
    if (owner.key_id) await keys.endIn(tx, bySystem, owner.user_id, owner.key_id)
    const key = await keys.createIn(tx, bySystem, account, { name: 'First start', scopes: SCOPES, secret })
    await store.updateOwnerKey(tx, owner.user_id, key.id)
    return key
  }

  return {
    /** Makes a new account the owner, with its organization and its key; gives the secret of its link. */
    async establishIn(
      tx: Tx,
      user: { id: string; name: string; email: string },
      secret: string,
    ): Promise<string> {
      await store.insertOwner(tx, user.id)
      await giveKeyIn(tx, await getOwner(tx), secret)
      return createEntryLinkIn(tx, user.id, clock())
    },

    /** The secret of a new link, which works once and for a day; the one before is over. */
    newLink: (): Promise<string> =>
      database.transact(async (tx) => createEntryLinkIn(tx, (await getOwner(tx)).user_id, clock())),

    /** A new key in place of the one before. */
    newKey: (): Promise<string> =>
      database.transact(async (tx) => (await giveKeyIn(tx, await getOwner(tx), mintSecret('trk'))).secret),

    /** Makes a key that the operator chose the owner's, unless it is already; the one before is over. Says whether. */
    useKey: (secret: string): Promise<boolean> =>
      database.transactAlone(async (tx) => {
        const owner = await getOwner(tx)
        const known = await keys.findBySecretIn(tx, secret)
        if (known && known.user_id !== owner.user_id)
          throw new StartError('TRELLIS_OWNER_KEY is an API key of somebody else: choose another')
        const isWhole = known?.enabled === 1 && known.expires_at === null && known.scopes === SCOPES.join(' ')
        if (known && isWhole && known.id === owner.key_id) return false
        if (known && known.id !== owner.key_id) await keys.endIn(tx, bySystem, owner.user_id, known.id)
        await giveKeyIn(tx, owner, secret)
        return true
      }),
  }
}
