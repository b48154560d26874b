import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { DatabaseLocation } from '../db/database.ts'
import type { Config } from '../platform/config.ts'
import { Unfit } from './command.ts'

/** Where the server that these settings are for keeps everything. */
export interface Places {
  dataDir: string
  database: DatabaseLocation
}

export function placesOf({ data, database }: Config): Places {
  const dataDir = resolve(data)
  return {
    dataDir,
    database: database.url
      ? { postgres: database.url, poolSize: database.poolSize }
      : { sqlite: join(dataDir, 'trellis.db') },
  }
}

/** Opening a SQLite database that is not there would make one. */
export async function requireInUse({ dataDir, database }: Places): Promise<void> {
  const wanted = 'sqlite' in database ? database.sqlite : dataDir
  if (!(await exists(wanted)))
    throw new Unfit(`There is no Trellis in ${dataDir}: ${wanted} does not exist. Is TRELLIS_DATA right?`)
}

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
