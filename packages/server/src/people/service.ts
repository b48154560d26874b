import type { Db } from '../schema.ts'
import * as store from './store.ts'

export type PeopleService = ReturnType<typeof createPeopleService>

/** What the rest of the service needs to know of a person; signing up and in is better-auth's. */
export function createPeopleService({ db }: { db: Db }) {
  return {
    find: (userId: string): Promise<{ name: string; email: string } | undefined> =>
      store.findUser(db, userId),

    /** Whether somebody signed up with an address. */
    hasAccount: async (email: string): Promise<boolean> =>
      (await store.findUserByEmail(db, email)) !== undefined,

    async get(userId: string): Promise<{ email: string; emailVerified: boolean }> {
      const user = await store.findUser(db, userId)
      if (!user) throw new Error(`No user ${userId}`)
      return { email: user.email, emailVerified: Boolean(user.email_verified) }
    },
  }
}
