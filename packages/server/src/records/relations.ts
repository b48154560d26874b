import type { Issue } from '@trellis/contract'
import type { Tx } from '../schema.ts'
import { type Collection, isHeldUnique, keyIn } from './collection.ts'
import * as entryStore from './entry-store.ts'
import { at, type Data, valueIn } from './rows.ts'
import * as store from './store.ts'

/** What only the database knows of a row that is to be written: that a value is taken, or leads nowhere. */
export async function relationIssues(
  tx: Tx,
  { row: { repo_id: repoId }, schema, indexes }: Collection,
  { seq, before, given, data }: { seq: number; before?: Data; given: Data; data: Data },
): Promise<Issue[]> {
  const isNew = (name: string) => valueIn(data, name) !== (before && valueIn(before, name))
  const issues: Issue[] = []
  for (const index of indexes) {
    const [name = ''] = index.fields
    if (!isHeldUnique(index, data) || !isNew(name)) continue
    if (await entryStore.isKeyTaken(tx, { indexId: index.id, key: keyIn(index, data), seq }))
      issues.push(at(name, 'is taken: another row has this value'))
  }
  for (const [name, { type, record = '' }] of schema.fields) {
    const id = valueIn(data, name)
    // The row it leads to may have gone since. That is for whoever writes the ref again, not for other changes.
    const isWritten = Object.hasOwn(given, name)
    if (type === 'ref' && typeof id === 'string' && isWritten && !(await isThere(tx, repoId, record, id)))
      issues.push(at(name, `leads to no ${record}`))
  }
  return issues
}

async function isThere(tx: Tx, repoId: string, record: string, id: string): Promise<boolean> {
  const target = await store.findCollection(tx, repoId, record)
  // PostgreSQL cannot even be asked for a NUL.
  if (target?.in_force !== 1 || id.includes('\0')) return false
  return (await store.findRecord(tx, target.id, id)) !== undefined
}
