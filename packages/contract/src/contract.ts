import { admin } from './admin.ts'
import { agents } from './agents.ts'
import { credentials } from './credentials.ts'
import { daemons } from './daemons.ts'
import { events } from './events.ts'
import { extensions } from './extensions.ts'
import { git } from './git.ts'
import { invites } from './invites.ts'
import { keys } from './keys.ts'
import { invitations, members } from './members.ts'
import { orgs } from './orgs.ts'
import { records } from './records.ts'
import { repos } from './repos.ts'
import { rules } from './rules.ts'
import { runs } from './runs.ts'
import { secrets } from './secrets.ts'
import { tokens } from './tokens.ts'
import { webhooks } from './webhooks.ts'

/** Version of the interface description. */
export const INTERFACE_VERSION = '0.7.0'

/** Every operation hangs below this path. */
export const API_PREFIX = '/api/v1'

/**
 * The whole interface: what the server implements, the client calls and the OpenAPI document describes. Spelled out,
 * because declarations would repeat all of it otherwise.
 */
export type Contract = {
  orgs: typeof orgs
  members: typeof members
  invitations: typeof invitations
  keys: typeof keys
  credentials: typeof credentials
  tokens: typeof tokens
  repos: typeof repos
  git: typeof git
  rules: typeof rules
  events: typeof events
  agents: typeof agents
  invites: typeof invites
  extensions: typeof extensions
  records: typeof records
  runs: typeof runs
  secrets: typeof secrets
  daemons: typeof daemons
  webhooks: typeof webhooks
  admin: typeof admin
}

export const contract: Contract = {
  orgs,
  members,
  invitations,
  keys,
  credentials,
  tokens,
  repos,
  git,
  rules,
  events,
  agents,
  invites,
  extensions,
  records,
  runs,
  secrets,
  daemons,
  webhooks,
  admin,
}
