import type { Db } from '../schema.ts'
import * as views from './administration-store.ts'
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

    /** Whether it is the account that was made at the first start. */
    isFirstOwner: async (userId: string): Promise<boolean> => (await store.findOwner(db))?.user_id === userId,

    /** Everybody, for whoever owns the server. */
    listAll: (page: { after: string; limit: number }): Promise<views.ListedUser[]> =>
      views.listUsers(db, page),
    countAll: (): Promise<number> => views.countUsers(db),

    async get(userId: string): Promise<{ email: string; emailVerified: boolean }> {
      const user = await store.findUser(db, userId)
      if (!user) throw new Error(`No user ${userId}`)
      return { email: user.email, emailVerified: Boolean(user.email_verified) }
    },
  }
}
