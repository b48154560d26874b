import type { BetterAuthOptions } from 'better-auth'
import type { DBAdapter, DBTransactionAdapter, Where } from 'better-auth/adapters'
import { hashSecret } from '../secrets/minting.ts'

type Row = Record<string, unknown>
type Storage = DBTransactionAdapter<BetterAuthOptions>

/**
 * Keeps the tokens of sessions as hashes. better-auth looks sessions up by token, and takes the token of what it found for
 * the one to set in a cookie; so whoever brings a token gets it back, and everybody else sees the id in its place.
 */
export function hashSessionTokens(storage: DBAdapter<BetterAuthOptions>): DBAdapter<BetterAuthOptions> {
  return {
    ...storage,
    ...hashing(storage),
    transaction: (work) => storage.transaction((inside) => work({ ...inside, ...hashing(inside) })),
  }
}

/** Everything a storage does with a `where`, or with what is to be written. */
function hashing(storage: Storage) {
  return {
    create: async <T extends Row, R = T>(call: Call<Storage['create']>): Promise<R> => {
      const given = tokensIn(call.model, [call.data])
      const made = await storage.create<T, R>({ ...call, data: hashed(call.model, call.data) } as never)
      return shown(made, call.model, given)
    },
    findOne: async <T>(call: Call<Storage['findOne']>): Promise<T | null> =>
      shown(await storage.findOne<T>(looking(call)), call.model, tokensSought(call)),
    findMany: async <T>(call: Call<Storage['findMany']>): Promise<T[]> => {
      const rows = await storage.findMany<T>(looking(call))
      return rows.map((row) => shown(row, call.model, tokensSought(call)))
    },
    update: async <T>(call: Call<Storage['update']>): Promise<T | null> => {
      const given = new Map([...tokensSought(call), ...tokensIn(call.model, [call.update])])
      const update = hashed(call.model, call.update)
      return shown(await storage.update<T>({ ...looking(call), update }), call.model, given)
    },
    updateMany: (call: Call<Storage['updateMany']>) =>
      storage.updateMany({ ...looking(call), update: hashed(call.model, call.update) }),
    count: (call: Call<Storage['count']>) => storage.count(looking(call)),
    delete: (call: Call<Storage['delete']>) => storage.delete(looking(call)),
    deleteMany: (call: Call<Storage['deleteMany']>) => storage.deleteMany(looking(call)),
    consumeOne: async <T>(call: Call<Storage['consumeOne']>): Promise<T | null> =>
      shown(await storage.consumeOne<T>(looking(call)), call.model, tokensSought(call)),
    incrementOne: async <T>(call: Call<Storage['incrementOne']>): Promise<T | null> =>
      shown(await storage.incrementOne<T>(looking(call)), call.model, tokensSought(call)),
  }
}

type Call<Method extends (call: never) => unknown> = Parameters<Method>[0]

const isToken = (model: string, field: string): boolean => model === 'session' && field === 'token'

const hashOf = (value: unknown) => (typeof value === 'string' ? hashSecret(value) : value)

/** The same query, for the hashes of the tokens it asks for. */
function looking<C extends { model: string; where?: Where[] | undefined }>(call: C): C {
  return call.where ? { ...call, where: call.where.map((each) => hashedWhere(call.model, each)) } : call
}

function hashedWhere(model: string, where: Where): Where {
  if (!isToken(model, where.field)) return where
  const { value } = where
  return { ...where, value: (Array.isArray(value) ? value.map(hashOf) : hashOf(value)) as Where['value'] }
}

const hashed = <T extends Row>(model: string, row: T): T =>
  isToken(model, 'token') && 'token' in row ? { ...row, token: hashOf(row.token) } : row

/** Tokens by their hashes. */
type Given = ReadonlyMap<unknown, unknown>

const tokensIn = (model: string, rows: readonly Row[]): Given =>
  new Map(isToken(model, 'token') ? rows.map(({ token }) => [hashOf(token), token]) : [])

const tokensSought = ({ model, where = [] }: { model: string; where?: Where[] | undefined }): Given =>
  new Map(
    where
      .filter(({ field }) => isToken(model, field))
      .flatMap(({ value }) => value)
      .map((token) => [hashOf(token), token]),
  )

function shown<T>(row: T, model: string, given: Given): T {
  if (!row || !isToken(model, 'token')) return row
  const { id, token } = row as Row
  return { ...row, token: given.get(token) ?? id }
}
