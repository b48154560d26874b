import type { Kysely, Transaction } from 'kysely'
import type { AgentTables } from './agents/store.ts'
import type { AnonymousTables } from './anonymous/store.ts'
import type { TurnTables } from './background/turns.ts'
import type { WorkerTables } from './background/workers.ts'
import type { CodeTables } from './code/store.ts'
import type { DaemonTables } from './daemons/store.ts'
import type { Database as AnyDatabase } from './db/database.ts'
import type { EventTables } from './events/store.ts'
import type { ExtensionTables } from './extensions/store.ts'
import type { InviteTables } from './invites/store.ts'
import type { KeyTables } from './keys/store.ts'
import type { MailTables } from './mail/store.ts'
import type { OrgSlugTables } from './orgs/slug-store.ts'
import type { OrgTables } from './orgs/store.ts'
import type { PeopleTables } from './people/store.ts'
import type { ThrottleTables } from './platform/throttles.ts'
import type { RecordTables } from './records/store.ts'
import type { RepoSecretTables } from './repo-secrets/store.ts'
import type { RepoNameTables } from './repos/name-store.ts'
import type { RepoTables } from './repos/store.ts'
import type { RunProposalTables } from './runs/proposal-store.ts'
import type { RunQueueTables } from './runs/queue-store.ts'
import type { RunStepTables } from './runs/step-store.ts'
import type { RunTables } from './runs/store.ts'
import type { RunTriggerTables } from './runs/trigger-store.ts'
import type { SettingTables } from './secrets/server-key.ts'
import type { TokenTables } from './tokens/store.ts'
import type { WebhookTables } from './webhooks/store.ts'

/** All tables, each typed where its SQL lives. */
export type Schema = PeopleTables &
  OrgTables &
  OrgSlugTables &
  KeyTables &
  TokenTables &
  RepoTables &
  RepoNameTables &
  CodeTables &
  AgentTables &
  AnonymousTables &
  InviteTables &
  ExtensionTables &
  ThrottleTables &
  EventTables &
  WebhookTables &
  RecordTables &
  RunTables &
  DaemonTables &
  RunProposalTables &
  RunQueueTables &
  RunStepTables &
  RunTriggerTables &
  RepoSecretTables &
  WorkerTables &
  TurnTables &
  MailTables &
  SettingTables

export type Database = AnyDatabase<Schema>

/** For reading, inside a transaction or not. */
export type Db = Kysely<Schema>

/**
 * For writing: only `Database.transact` makes one.
 *
 * Quotas and rules that look before they write hold a lock meanwhile, taken by name: `throttles.lockIn` for an address, or
 * for whoever makes invites, `orgs.lockIn`, `repos.lockIn`, and `countOwned` for the memberships of a person. Whoever takes several takes them in
 * this order, so that no two wait for each other: address, organization, memberships, repository, what belongs to the
 * repository (tokens, invites, webhooks, record collections in the order of their names, runs), counters of event logs (`events.append`), lines
 * of webhooks, queues of runs. Daemons are changed under the counter of their repository's log (`events.lockIn`).
 */
export type Tx = Transaction<Schema>
