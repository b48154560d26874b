import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { StartError } from '../platform/start-error.ts'
import type { Database } from '../schema.ts'
import { keptSecret } from './files.ts'

/** The secret of this server, from which every key it needs is derived. It is kept outside the database. */
export interface ServerKey {
  derive(purpose: string): string
}

export interface SettingTables {
  settings: { name: string; value: string }
}

/** The data was written with another key than the one given. */
class OtherServerKey extends StartError {}

const FINGERPRINT = 'server_key_fingerprint'

/** Takes the configured secret, or the one in the data directory, made at the first start. */
export async function loadServerKey(configured: string | undefined, dataDir: string): Promise<ServerKey> {
  const make = () => randomBytes(32).toString('base64url')
  const secret = configured ?? (await keptSecret(join(dataDir, 'server.key'), make))
  return {
    derive: (purpose) =>
      Buffer.from(hkdfSync('sha256', secret, 'trellis', purpose, 32)).toString('base64url'),
  }
}

/** Another key than the one the data was written with would end every session and open nothing: say so instead. */
export async function requireSameKey(database: Database, key: ServerKey): Promise<void> {
  const fingerprint = createHash('sha256').update(key.derive('fingerprint')).digest('hex')
  const known = await database.transactAlone(async (tx) => {
    const row = await tx
      .selectFrom('settings')
      .select('value')
      .where('name', '=', FINGERPRINT)
      .executeTakeFirst()
    if (!row) await tx.insertInto('settings').values({ name: FINGERPRINT, value: fingerprint }).execute()
    return row?.value ?? fingerprint
  })
  if (known !== fingerprint)
    throw new OtherServerKey(
      'This database was first used with another server key. Give every process the same TRELLIS_SECRET, ' +
        'or put back the server.key file of the data directory it was first started with.',
    )
}
