import type { ColumnTypes } from '../dialect.ts'
import { foundation } from './0001-foundation.ts'
import { git } from './0002-git.ts'
import { agents } from './0003-agents.ts'
import { webhooks } from './0004-webhooks.ts'
import { indexes } from './0005-indexes.ts'
import { house } from './0006-house.ts'
import { boundedWork } from './0007-bounded-work.ts'
import { sessionHashes } from './0008-session-hashes.ts'
import { packHealth } from './0009-pack-health.ts'
import { pruning } from './0010-pruning.ts'
import { mended } from './0011-mended.ts'
import { extensionsAndRecords } from './0012-extensions-and-records.ts'
import { declaredWebhooks } from './0013-declared-webhooks.ts'
import { runsAndDaemons } from './0014-runs-and-daemons.ts'
import { firstTeam } from './0015-first-team.ts'

/** Whether a table has a column before the migration. */
export type HasColumn = (table: string, column: string) => Promise<boolean>

export interface Migration {
  name: string
  statements(types: ColumnTypes, hasColumn: HasColumn): string[] | Promise<string[]>
}

/** In order, the number is the place in this list. Forward only: what has landed is never edited. */
export const migrations: readonly Migration[] = [
  foundation,
  git,
  agents,
  webhooks,
  indexes,
  house,
  boundedWork,
  sessionHashes,
  packHealth,
  pruning,
  mended,
  extensionsAndRecords,
  declaredWebhooks,
  runsAndDaemons,
  firstTeam,
]
