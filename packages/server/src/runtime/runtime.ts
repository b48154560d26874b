import type { Runtime as RuntimeName } from '@trellis/contract'

/** A module and what it is run for. */
export interface Job {
  runId: string
  /** What different organizations run never shares a process. */
  orgId: string
  /** Modules keep what they put into their globals: only runs of one repository find it again. */
  repoId: string
  module: { hash: string; code: string; sourceMap: string | undefined }
  /** The commit whose files it has around it in the sandbox. */
  tree?: string
  input: unknown
  /** What the module sees as `ctx.run`. */
  run: Readonly<Record<string, unknown>>
  /** What of `ctx` is there; nothing else is. */
  capabilities: readonly string[]
  /** Those of the granted secrets that have been set. */
  secrets: Readonly<Record<string, string>>
  /** For the run; in a workflow for each stretch between two steps. */
  timeoutMs: number
  /** Makes it a workflow, with `ctx.step`: `ctx/steps.ts` has what is said to the host then. In Unix milliseconds. */
  workflow?: { startedAt: number }
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogLine {
  level: LogLevel
  message: string
  data?: unknown
}

/** What a module reaches outside of itself. Everything goes through here, and is refused here. */
export interface Host {
  /**
   * A call on `ctx`, as `repo.readText`. An error with a `code` and `data` reaches the module with them; any other is the
   * server's own, and the module learns nothing of it.
   */
  call(method: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown>
  /** Bounded by the runtime, and told in the order the module spoke. Must not throw. */
  log(line: LogLine): void
}

export type Outcome =
  | { kind: 'returned'; output?: unknown; exitCode?: number }
  /** `error` is `Name: message`, `stack` in the author's lines. */
  | { kind: 'threw'; error: string; stack?: string; exitCode?: number }
  /** Over a limit, or gone: `error` says which and why. */
  | { kind: 'ended'; error: string; exitCode?: number }
  /** A workflow that has nothing to do until something else happens. */
  | { kind: 'suspended' }
  /** Nothing of the module was run: it may be tried again, here or elsewhere. */
  | { kind: 'not begun'; reason: string }

/** Something that runs modules. Never throws for what a module does. */
export interface Runtime {
  run(job: Job, host: Host, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

/** By the name in a descriptor. */
export type Runtimes = Readonly<Partial<Record<RuntimeName, Runtime>>>
