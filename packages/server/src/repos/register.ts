import type { Db } from '../schema.ts'
import * as store from './store.ts'

export type RegisteredRepo = store.RegisteredRepo

export type RepoRegister = ReturnType<typeof createRepoRegister>

/** Every repository by its full name, whoever it belongs to: for what the operator reads. */
export function createRepoRegister({ db }: { db: Db }) {
  return {
    /** A page in the order of ids. */
    list: (page: { after: string; limit: number }) => store.listRegistered(db, page),

    /** As people call them, `org/name`; those that are gone are left out. */
    async namesOf(ids: readonly string[]): Promise<Map<string, string>> {
      if (ids.length === 0) return new Map()
      const rows = await store.listNames(db, ids)
      return new Map(rows.map(({ id, slug, name }) => [id, `${slug}/${name}`]))
    },
  }
}
