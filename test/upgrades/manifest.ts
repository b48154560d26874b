import type { Json } from '../../packages/server/src/testing/json.ts'
// What a fixture says of itself: which version made it, and what must still be so after an upgrade.

/** The first schema that has it. */
export const SINCE = { git: 2, agents: 3, webhooks: 4, rules: 6, extensions: 12, runs: 14 }

/** What the version that made the fixture answered, and so has every version after it. */
export interface Recorded {
  /** A name in `credentials` or `cookies`; nobody when left out. */
  as?: string
  org?: string
  path: string
  input: object
  status: number
  body: Json
}

export interface KeptRepo {
  org: string
  name: string
  /** As `git ls-remote` lists them. */
  refs: Record<string, string>
}

export interface KeptWebhook {
  /** The path at the receiver, and the name. */
  name: string
  /** What it may sign with, the current one first. */
  secrets: string[]
}

export interface Manifest {
  commit: string
  schema: number
  database: 'sqlite' | 'postgres'
  /** Whether it was killed, or asked to stop. */
  ended: 'stopped' | 'killed'
  /** When that was, in Unix milliseconds. Much in it is good for hours or days only. */
  endedAt: number
  /** Where clients were told that the server is. */
  baseUrl: string
  /** Where the webhooks deliver to. Nobody is there any more. */
  receiver: string
  password: string
  people: Record<string, { email: string; id: string }>
  /** Bearer tokens of all kinds, those among them that are refused. */
  credentials: Record<string, string>
  cookies: Record<string, string>
  /** Links to take clones from. */
  invites: Record<string, string>
  /** An agent that shows a code, which nobody has typed so far. */
  claim?: { claimToken: string; attemptToken: string; userCode: string }
  repos: KeptRepo[]
  webhooks: KeptWebhook[]
  recorded: Recorded[]
}
