import type { BetterAuthOptions } from 'better-auth'
import type { DBAdapter, DBTransactionAdapter } from 'better-auth/adapters'

type Storage = DBTransactionAdapter<BetterAuthOptions>

/**
 * Begins transactions with their first write. better-auth opens one for a whole sign-up, looks for the address, hashes the
 * password and only then writes; on SQLite everybody who writes would wait for the hash. What is read before the first
 * write is read outside: that an address is there once is for the database to say.
 */
export const beginLate = (storage: DBAdapter<BetterAuthOptions>): DBAdapter<BetterAuthOptions> => ({
  ...storage,
  async transaction(work) {
    const late = lateTransaction(storage)
    try {
      const result = await work(late.storage)
      await late.commit()
      return result
    } catch (error) {
      await late.rollback(error)
      throw error
    }
  },
})

function lateTransaction(outside: DBAdapter<BetterAuthOptions>) {
  const end = Promise.withResolvers<void>()
  let transaction: Promise<void> | undefined
  let inside: Promise<Storage> | undefined

  const writing = (): Promise<Storage> => {
    inside ??= new Promise((resolve, reject) => {
      transaction = outside.transaction((storage) => {
        resolve(storage)
        return end.promise
      })
      transaction.catch(reject)
    })
    return inside
  }
  const reading = async (): Promise<Storage> => inside ?? outside

  const storage: Storage = {
    ...outside,
    findOne: async (call) => (await reading()).findOne(call),
    findMany: async (call) => (await reading()).findMany(call),
    count: async (call) => (await reading()).count(call),
    create: async (call) => (await writing()).create(call),
    update: async (call) => (await writing()).update(call),
    updateMany: async (call) => (await writing()).updateMany(call),
    delete: async (call) => (await writing()).delete(call),
    deleteMany: async (call) => (await writing()).deleteMany(call),
    consumeOne: async (call) => (await writing()).consumeOne(call),
    incrementOne: async (call) => (await writing()).incrementOne(call),
  }
  return {
    storage,
    async commit(): Promise<void> {
      end.resolve()
      await transaction
    },
    async rollback(error: unknown): Promise<void> {
      if (!transaction) return
      end.reject(error)
      await transaction.catch(() => {})
    },
  }
}
