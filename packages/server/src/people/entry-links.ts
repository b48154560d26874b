import * as z from 'zod'
import { Duplicate } from '../db/database.ts'
import type { Clock } from '../platform/clock.ts'
import { invalid } from '../platform/fault.ts'
import type { NewId } from '../platform/ids.ts'
import type { Database, Tx } from '../schema.ts'
import { hashSecret, mintSecret, secretKind } from '../secrets/minting.ts'
import type { Passwords } from './passwords.ts'
import * as store from './store.ts'

/** Passwords have so many characters, wherever they are set. */
export const PASSWORD_LENGTH = { min: 10, max: 256 }

const LIFETIME_MS = 24 * 60 * 60 * 1000
const Address = z.email().max(254)

interface EntryLinksDeps {
  database: Database
  clock: Clock
  newId: NewId
  passwords: Passwords
}

/** What the holder of a link sees before using it. */
export interface Entry {
  email: string
  /** The owner of the first start has an address that somebody else made up. */
  mayChangeAddress: boolean
}

export type EntryLinks = ReturnType<typeof createEntryLinks>

/** Gives the secret of a link that lets a person set their password, once. Links they had before are over. */
export async function createEntryLinkIn(tx: Tx, userId: string, now: number): Promise<string> {
  const secret = mintSecret('trl')
  await store.deleteEntryLinksOf(tx, userId)
  await store.insertEntryLink(tx, {
    secret_hash: hashSecret(secret),
    user_id: userId,
    created_at: now,
    expires_at: now + LIFETIME_MS,
  })
  return secret
}

/** Links for those who have nothing else to come in with. Looking at one changes nothing: programs follow links, too. */
export function createEntryLinks({ database, clock, newId, passwords }: EntryLinksDeps) {
  const find = (secret: string) =>
    secretKind(secret) === 'trl'
      ? store.findEntryLink(database.db, hashSecret(secret), clock())
      : Promise.resolve(undefined)

  return {
    /** Undefined for a link that was used, has run out, or never was one. */
    async look(secret: string): Promise<Entry | undefined> {
      const link = await find(secret)
      return link && { email: link.email, mayChangeAddress: link.is_owner }
    },

    /**
     * Uses the link up: sets password and address, turns off two-factor sign-in, and ends all sessions there are. Gives the address to sign in with;
     * undefined when the link is over. Throws BAD_REQUEST, and then it is not used up.
     */
    async use(
      secret: string,
      { email, password }: { email: string; password: string },
    ): Promise<string | undefined> {
      const link = await find(secret)
      if (!link) return undefined
      const address = link.is_owner ? email.trim().toLowerCase() : link.email
      if (link.is_owner && !Address.safeParse(address).success)
        throw invalid(['email'], 'This is not an email address')
      const { min, max } = PASSWORD_LENGTH
      if (password.length < min || password.length > max)
        throw invalid(['password'], `A password has ${min} to ${max} characters`)
      const passwordHash = await passwords.hash(password)
      const account = { id: newId('acc'), userId: link.user_id, passwordHash, now: clock() }
      const used = database.transact(async (tx) => {
        // Of several who come with the same link one is first.
        if (!(await store.takeEntryLink(tx, hashSecret(secret), clock()))) return undefined
        if (address !== link.email) await store.updateAddress(tx, link.user_id, address, clock())
        await store.setPassword(tx, account)
        await store.deleteSessionsOf(tx, link.user_id)
        // Who is given a link has nothing to come in with: a phone that was lost must not keep them out, nor let
        // anybody else in.
        await store.deleteSecondFactorOf(tx, link.user_id)
        await store.deletePasskeysOf(tx, link.user_id)
        return address
      })
      return used.catch((error) => {
        throw error instanceof Duplicate ? invalid(['email'], 'Another account has this address') : error
      })
    },
  }
}
