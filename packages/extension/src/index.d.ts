// What a module of an extension is given. Types alone: importing them leaves nothing behind in the bundle.

/** A value that JSON can hold. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** What a descriptor may ask for under `capabilities`. */
export type Capability =
  | 'repo:read'
  | 'repo:write'
  | 'records:read'
  | 'records:write'
  | 'events:emit'
  | 'runs:dispatch'
  | `net:${string}`
  | `secret:${string}`

/**
 * The second argument of every module. `Granted` are the capabilities of the descriptor: what is not among them is not
 * there. On a branch a run may have fewer; without `Granted` everything may be absent.
 *
 * ```ts
 * import type { Context } from '@trellis/extension'
 *
 * export default async function (input: { path: string }, ctx: Context<'repo:read' | 'secret:API_TOKEN'>) {
 *   return { text: await ctx.repo.readText(input.path), known: ctx.secrets.API_TOKEN !== undefined }
 * }
 * ```
 */
export type Context<Granted extends Capability = never> = Always &
  If<
    Granted,
    'repo:read' | 'repo:write',
    { readonly repo: If<Granted, 'repo:read', RepoReader> & If<Granted, 'repo:write', RepoWriter> },
    { readonly repo?: RepoReader & Partial<RepoWriter> }
  > &
  If<
    Granted,
    'records:read' | 'records:write',
    {
      readonly records: If<Granted, 'records:read', RecordsReader> &
        If<Granted, 'records:write', RecordsWriter>
    },
    { readonly records?: RecordsReader & Partial<RecordsWriter> }
  > &
  If<Granted, 'events:emit', { readonly events: Events }, { readonly events?: Events }> &
  If<Granted, 'runs:dispatch', { readonly runs: Runs }, { readonly runs?: Runs }> &
  If<Granted, `net:${string}`, { readonly fetch: typeof fetch }, { readonly fetch?: typeof fetch }> &
  If<
    Granted,
    `secret:${string}`,
    /** By name; one that was never set is absent. */
    { readonly secrets: { readonly [Name in SecretName<Granted>]?: string } },
    { readonly secrets?: { readonly [Name in SecretName<Granted>]?: string } }
  >

/** The second argument in the workflow runtime. */
export type WorkflowContext<Granted extends Capability = never> = Context<Granted> & { readonly step: Step }

/** What a module exports by default. */
export type Module<Input = Json, Output = unknown, Granted extends Capability = never> = (
  input: Input,
  ctx: Context<Granted>,
) => Output | Promise<Output>

/** What a module of the workflow runtime exports by default. */
export type WorkflowModule<Input = Json, Output = unknown, Granted extends Capability = never> = (
  input: Input,
  ctx: WorkflowContext<Granted>,
) => Output | Promise<Output>

/** What a payload module of a webhook exports by default: an event in, the body out. A string is sent as it is. */
export type Payload = (event: WebhookEvent) => Json | Promise<Json>

type If<Granted, Wanted, Then, Else = unknown> = [Extract<Granted, Wanted>] extends [never] ? Else : Then
type SecretName<Granted> = [Extract<Granted, `secret:${string}`>] extends [never]
  ? string
  : Granted extends `secret:${infer Name}`
    ? Name
    : never

interface Always {
  readonly run: Run
  /** Writes a line into the log of the run. `console` does the same, each method with its level. */
  log(message: string, data?: Json): void
  /** Aborts when the run is cancelled or its time is over. */
  readonly signal: AbortSignal
}

export interface Run {
  readonly id: string
  readonly trigger: 'dispatch' | 'push' | 'record' | 'event' | 'daemon'
  /** What was pushed; else the ref it was asked for at, `refs/trellis/canonical` by default. */
  readonly ref: string
  /** What `ctx.repo` reads and the sandbox has the files of. Null when the ref was deleted. */
  readonly commitSha: string | null
  readonly repo: { readonly id: string; readonly name: string; readonly owner: string }
  readonly actor: Actor
  /** The event that started it, and what came before; null for a run somebody asked for. */
  /** The event that set it off, and the run that is behind; null when somebody asked for it. */
  readonly cause: RunCause | null
}

export interface Actor {
  readonly kind: 'user' | 'anonymous' | 'system' | 'agent' | 'mcp'
  readonly id: string
}

export interface Cause {
  readonly eventId?: string
  readonly runId: string
  readonly depth: number
  readonly chain: readonly string[]
  readonly rootEventId: string | null
}

/** Why a run is there. There need not be a run behind the event. */
export type RunCause = Omit<Cause, 'runId'> & { readonly runId: string | null }

/** An error thrown by anything on `ctx`, with the code and data that the API would answer. */
export interface ContextError extends Error {
  readonly code: string
  readonly data: unknown
}

interface AtRef {
  /** The commit of the run when left out. */
  ref?: string
}

export interface RepoReader {
  /** Null for a file that is not there. */
  readText(path: string, options?: AtRef): Promise<string | null>
  readBytes(path: string, options?: AtRef): Promise<Uint8Array | null>
  list(path?: string, options?: AtRef & { recursive?: boolean }): Promise<TreeItem[]>
  branches(): Promise<GitRef[]>
  tags(): Promise<GitRef[]>
  /** Newest first. */
  commits(options?: AtRef & { path?: string; limit?: number }): Promise<Commit[]>
  compare(base: string, head: string): Promise<Comparison>
}

export interface RepoWriter {
  commit(change: {
    branch: string
    message: string
    changes: Change[]
    /** Where the branch must be: null for one that does not exist yet. Not checked when left out. */
    expectedHead?: string | null
  }): Promise<{ branch: string; before: string | null; oid: string; tree: string; unchanged: boolean }>
  createBranch(name: string, from: string): Promise<GitRef>
  deleteBranch(name: string): Promise<{ deleted: boolean }>
  createTag(name: string, oid: string, options?: { message?: string }): Promise<GitRef>
  merge(merge: { into: string; from: string; message?: string }): Promise<{
    outcome: 'up-to-date' | 'fast-forward' | 'merged' | 'conflict' | 'unrelated'
    branch: string
    oid: string
  }>
}

export interface TreeItem {
  path: string
  type: 'blob' | 'tree'
  oid: string
  /** In bytes; directories have none. */
  size?: number
}

export interface GitRef {
  name: string
  oid: string
  type: 'branch' | 'tag' | 'other'
}

export interface Signature {
  name: string
  email: string
  /** Unix milliseconds. */
  time: number
  timezone: string
}

export interface Commit {
  oid: string
  tree: string
  parents: string[]
  author: Signature
  committer: Signature
  message: string
  signed: boolean
}

export type Change =
  | {
      op: 'put'
      path: string
      content: string
      encoding?: 'utf-8' | 'base64'
      mode?: '100644' | '100755' | '120000'
    }
  | { op: 'delete'; path: string }
  | { op: 'move'; from: string; to: string }

export interface Comparison {
  base: string
  head: string
  mergeBase: string | null
  ahead: number
  behind: number
  commits: Commit[]
  moreCommits: boolean
  files: {
    path: string
    status: 'added' | 'modified' | 'deleted' | 'renamed' | 'type-changed'
    previousPath?: string
    additions: number
    deletions: number
    binary: boolean
    patch?: string
  }[]
  filesTruncated: boolean
}

export interface RecordRow<Data = { [field: string]: Json }> {
  id: string
  revision: number
  createdAt: number
  updatedAt: number
  data: Data
}

export interface RecordsReader {
  get<Data = { [field: string]: Json }>(record: string, id: string): Promise<RecordRow<Data>>
  list<Data = { [field: string]: Json }>(
    record: string,
    options?: { where?: { [field: string]: Json }; limit?: number; cursor?: string },
  ): Promise<{ rows: RecordRow<Data>[]; cursor: string | null }>
}

export interface RecordsWriter {
  create<Data extends object>(record: string, data: Data): Promise<RecordRow<Data>>
  /** `data` has the fields that change; null takes an optional one away. `revision` is the one it was read with. */
  update<Data extends object>(
    record: string,
    id: string,
    change: { revision: number; data: { [Field in keyof Data]?: Data[Field] | null } },
  ): Promise<RecordRow<Data>>
  delete(record: string, id: string, options: { revision: number }): Promise<{ deleted: true }>
}

export interface Events {
  /** The first words of the server's own types are reserved. */
  emit(type: string, event?: { subject?: string; payload?: Json }): Promise<void>
}

export interface Runs {
  /** Gives the run, queued; this one is its cause. `input` is `{}` when left out. */
  dispatch(extension: string, input?: Json): Promise<DispatchedRun>
}

export interface DispatchedRun {
  id: string
  extension: string
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  trigger: Run['trigger']
  ref: string
  commitSha: string | null
  createdAt: number
}

export interface StepOptions {
  /** Attempts after the first. */
  retries?: number
  delayMs?: number
  backoff?: 'constant' | 'exponential'
  /** Of each attempt; up to ten minutes. */
  timeoutMs?: number
}

/** What is done in a step is done once, whatever happens to the server, and gives JSON. Names are unique in a run. */
export interface Step {
  do<T>(name: string, fn: () => T | Promise<T>): Promise<T>
  do<T>(name: string, options: StepOptions, fn: () => T | Promise<T>): Promise<T>
  sleep(name: string, ms: number): Promise<void>
  /** Unix milliseconds. */
  /** In Unix milliseconds, or as a date. */
  sleepUntil(name: string, ts: number | Date): Promise<void>
  /** Null when the time is over. */
  waitForEvent(
    name: string,
    event: { type: string; subject?: string; timeoutMs?: number },
  ): Promise<TriggerEvent | null>
}

/** The input of a run that an event started. */
export interface TriggerEvent {
  id: string
  /** Its number in the log of the repository. */
  seq: number
  type: string
  /** Unix milliseconds. */
  ts: number
  subject: string | null
  actor: Actor
  payload: Json
  /** What caused it, for an event that a run is behind. */
  cause: Cause | null
}

/** What a webhook without a payload module sends. */
export interface WebhookEvent extends TriggerEvent {
  /** The log it is in, as `repo:repo_…`. */
  scope: string
  repo: { id: string; name: string; owner: string }
}

/** The input of a run that a push started. Of a push of very many refs some share an event, which has `refs` alone. */
export interface Push {
  ref?: string
  /** Null for a ref that is new. */
  before?: string | null
  /** Null for one that was deleted. */
  after?: string | null
  created?: boolean
  deleted?: boolean
  /** Known of branches: whether commits were left behind, how many came, and the files they change. */
  forced?: boolean
  commitCount?: number
  paths?: string[]
  pathsTruncated?: boolean
  refs?: { ref: string; before: string | null; after: string | null }[]
  refsTruncated?: boolean
  /** Of `git push -o`. */
  options?: string[]
}

/** The input of a run that a record started. */
export interface RecordTrigger<Data = { [field: string]: Json }> {
  hook: 'create' | 'transition'
  record: string
  row: RecordRow<Data>
  /** The data until then, at a transition. */
  before?: Data
}

/** The input of a daemon. */
export interface Wake {
  reason: 'schedule' | 'events' | 'manual'
  /** Oldest first. */
  events: TriggerEvent[]
}
