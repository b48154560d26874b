import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { StartError } from '../platform/start-error.ts'
import type { Database } from '../schema.ts'
import { keptSecret } from './files.ts'

const FILE = 'data.id'
const SETTING = 'data_directory_id'

/**
 * The packs that the database lists are in one data directory. A process with another would answer that what others
 * have pushed is not there, and sweep away nothing of its own: it must not start. The id goes where the directory goes.
 * A database that names none, as those of earlier versions, takes the first directory it is started with.
 */
export async function requireSameData(database: Database, dataDir: string): Promise<void> {
  // It is inside the directory.
  if (database.dialect === 'sqlite') return
  const file = join(dataDir, FILE)
  const own = await keptSecret(file, () => randomBytes(16).toString('hex'))
  const known = await database.transactAlone(async (tx) => {
    const row = await tx.selectFrom('settings').select('value').where('name', '=', SETTING).executeTakeFirst()
    if (!row) await tx.insertInto('settings').values({ name: SETTING, value: own }).execute()
    return row?.value ?? own
  })
  if (known !== own)
    throw new StartError(
      `The repositories of this database are in another data directory than ${dataDir}. Give every process the same ` +
        'directory in TRELLIS_DATA: share it between machines, or move it here as a whole. If this is that directory, ' +
        `restored from a backup with all of packs/, say so: echo ${known} > ${file}`,
    )
}
