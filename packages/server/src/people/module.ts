import type { CredentialEnding } from '../access/endings.ts'
import { bySystem } from '../events/service.ts'
import type { KeysService } from '../keys/service.ts'
import type { MailService } from '../mail/service.ts'
import type { Base, Module } from '../modules.ts'
import type { InvitationsService } from '../orgs/invitations.ts'
import type { OrgsService } from '../orgs/service.ts'
import { createSealer } from '../secrets/sealing.ts'
import { createAuth } from './auth.ts'
import { createEntryLinks } from './entry-links.ts'
import { ensureOwner } from './first-owner.ts'
import type { Passwords } from './passwords.ts'
import { createPost } from './post.ts'
import type { PeopleService } from './service.ts'
import * as store from './store.ts'
import { sweepSignIns } from './sweeping.ts'

interface PeopleNeeds extends Base {
  /** Made before all domains, because others ask it who somebody is. */
  people: PeopleService
  orgs: OrgsService
  invitations: InvitationsService
  keys: KeysService
  credentialEnding: CredentialEnding
  passwords: Passwords
  /** Undefined where no mail can be sent. */
  mail: MailService | undefined
}

/** How people come in, the first of them without being asked. */
export async function createPeopleModule(needs: PeopleNeeds) {
  const { config, database, newId, baseUrl, serverKey, people, orgs, invitations, passwords } = needs
  const { keys, clock } = needs
  const auth = createAuth({
    database,
    newId,
    baseUrl,
    secret: serverKey.derive('sessions'),
    passwords,
    signUp: config.signUp,
    providers: config.providers,
    trustedOrigins: config.corsOrigins,
    post: needs.mail && createPost({ ...needs, mail: needs.mail }),
    // Until now the account may have been that of somebody else who typed the address.
    recovered: async ({ id, emailVerified }) => {
      if (emailVerified) return
      await database.transact(async (tx) => {
        await keys.endAllIn(tx, bySystem, id)
        await store.deletePasskeysOf(tx, id)
        await store.deleteSecondFactorOf(tx, id)
        await store.verifyAddress(tx, id, clock())
      })
    },
    stopwatch: needs.stopwatch,
    clock,
    sealer: createSealer(serverKey, 'address changes'),
    isInvited: invitations.admits,
    welcome: async (user) => {
      await database.transact((tx) => orgs.createPersonalIn(tx, user))
    },
  })
  const entryLinks = createEntryLinks(needs)
  const firstAccess = await ensureOwner(needs)
  return {
    services: { people, auth, entryLinks, firstAccess },
    work: [sweepSignIns(needs)],
  } satisfies Module
}
