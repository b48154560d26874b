import type { LogEvent, Run, RunStatus, RunStep, RunTrigger } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { Power } from '../access/powers.ts'
import type { EventsService } from '../events/service.ts'
import { type EventScope, runScope } from '../events/types.ts'
import { textCursor } from '../platform/cursors.ts'
import { Fault } from '../platform/fault.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database, Db } from '../schema.ts'
import type { Cancels } from './cancels.ts'
import type { Dispatching } from './dispatching.ts'
import { ROW_BYTES } from './kept-bytes.ts'
import { presentRun, presentStep } from './presenting.ts'
import { listStepOutlines } from './step-store.ts'
import * as store from './store.ts'
import type { Transitions } from './transitions.ts'
import type { Waiting } from './waiting.ts'

interface RunsDeps {
  database: Database
  events: EventsService
  repos: ReposService
  dispatching: Dispatching
  transitions: Transitions
  waiting: Waiting
  cancels: Cancels
}

interface RunFilter {
  extension?: string | undefined
  status?: RunStatus | undefined
  trigger?: RunTrigger | undefined
}

/** Looked at for one page: a filter that finds few of many gives a short one, and a cursor that goes on. */
const LOOKED_AT = 5_000
const LOOKED_AT_ONCE = 500
/** What the runs of one page may take together. */
const PAGE_BYTES = 1024 * 1024

const LAST: ReadonlySet<string> = new Set(['run.succeeded', 'run.failed', 'run.cancelled'])

interface FollowedLog {
  scope: EventScope
  isOver: boolean
  /** Whether nothing comes after an event. */
  isLast(event: LogEvent): boolean
}

export type RunsService = ReturnType<typeof createRunsService>

export function createRunsService(deps: RunsDeps) {
  const { database, events, repos, dispatching, transitions, waiting, cancels } = deps
  const { db } = database

  /** One that the caller may not see does not exist. `find` reads as much of it as is needed. */
  async function open<Row extends store.RunPlace>(
    caller: Caller,
    id: string,
    power: Power,
    find: (q: Db, id: string) => Promise<Row | undefined>,
  ): Promise<{ run: Row; repo: RepoRow }> {
    const missing = new Fault('RUN_NOT_FOUND', { id })
    const run = await find(db, id)
    const found = run?.org_id === caller.org.id ? await repos.find(run.repo_id) : undefined
    if (!run || !found) throw missing
    const repo = await repos.open(caller, found.name, power).catch((error: unknown) => {
      throw error instanceof Fault && error.code === 'REPO_NOT_FOUND' ? missing : error
    })
    if (repo.id !== run.repo_id) throw missing
    return { run, repo }
  }

  const isOver = ({ ended_at }: store.RunPlace) => ended_at !== null

  return {
    async dispatch(
      caller: Caller,
      input: { name: string; extension: string; input: unknown; ref?: string | undefined },
      signal: AbortSignal,
    ): Promise<{ run: Run }> {
      const { run, repo } = await dispatching.dispatch(caller, input, signal)
      return { run: presentRun(run, repo.name) }
    },

    async get(
      caller: Caller,
      { id, waitMs = 0 }: { id: string; waitMs?: number | undefined },
      signal: AbortSignal,
    ): Promise<{ run: Run }> {
      const { run, repo } = await open(caller, id, 'repo:read', store.findRun)
      if (waitMs === 0 || isOver(run)) return { run: presentRun(run, repo.name) }
      const look = () => store.findRun(db, id)
      await waiting.until(
        {
          runId: id,
          orgId: run.org_id,
          ms: waitMs,
          isOver: async () => {
            const now = await look()
            return !now || isOver(now)
          },
        },
        signal,
      )
      const now = await look()
      if (!now) throw new Fault('RUN_NOT_FOUND', { id })
      return { run: presentRun(now, repo.name) }
    },

    async list(
      caller: Caller,
      {
        name,
        cursor,
        limit,
        ...filter
      }: RunFilter & { name: string; cursor?: string | undefined; limit: number },
    ): Promise<{ items: Run[]; nextCursor: string | null }> {
      const repo = await repos.open(caller, name, 'repo:read')
      const { ids, next } = await chosen(repo.id, filter, textCursor.decode(cursor), limit)
      const rows = ids.length === 0 ? [] : await store.listRuns(db, ids)
      return {
        items: rows.map((run) => presentRun(run, repo.name)),
        nextCursor: next === undefined ? null : textCursor.encode(next),
      }
    },

    /** Of a repository that was opened, newest first. */
    listLatest: (repo: RepoRow, limit: number) => store.listLatest(db, repo.id, limit),

    async steps(caller: Caller, { id }: { id: string }): Promise<{ items: RunStep[] }> {
      await open(caller, id, 'repo:read', store.findPlaceOf)
      return { items: (await listStepOutlines(db, id)).map(presentStep) }
    },

    async logs(
      caller: Caller,
      { id, ...page }: { id: string; cursor?: string | undefined; limit: number },
    ): Promise<{ items: LogEvent[]; nextCursor: string | null }> {
      await open(caller, id, 'repo:read', store.findPlaceOf)
      const { items, nextCursor } = await events.list({ ...page, scope: runScope(id), order: 'oldest' })
      return { items: items.map(({ seq: _, credentialId: __, ...event }) => event), nextCursor }
    },

    /** The log of a run that somebody wants to follow, and whether it will get longer. */
    async openLog(caller: Caller, id: string): Promise<FollowedLog> {
      const { run } = await open(caller, id, 'repo:read', store.findPlaceOf)
      return { scope: runScope(id), isOver: isOver(run), isLast: ({ type }) => LAST.has(type) }
    },

    /** One that waits ends at once; one that runs is told, and one that has ended is left as it is. */
    async cancel(caller: Caller, { id }: { id: string }): Promise<{ run: Run }> {
      const { run, repo } = await open(caller, id, 'repo:write', store.findRun)
      if (isOver(run)) return { run: presentRun(run, repo.name) }
      const cancelled = await database.transact((tx) => transitions.cancelIn(tx, events, id))
      if (cancelled?.status === 'running') cancels.cancel(id)
      return { run: presentRun(cancelled ?? (await store.findRun(db, id)) ?? run, repo.name) }
    },
  }

  /** The runs of a page, and where the next begins. */
  async function chosen(
    repoId: string,
    { extension, status, trigger }: RunFilter,
    below: string | undefined,
    limit: number,
  ): Promise<{ ids: string[]; next: string | undefined }> {
    const ids: string[] = []
    let bytes = 0
    let last = below
    for (let looked = 0; looked < LOOKED_AT; looked += LOOKED_AT_ONCE) {
      const isFiltered = status !== undefined || trigger !== undefined
      const wanted = isFiltered ? LOOKED_AT_ONCE : limit + 1 - ids.length
      const rows = await store.listOutlines(db, {
        repoId,
        ...(extension !== undefined && { extension }),
        ...(last !== undefined && { below: last }),
        limit: wanted,
      })
      for (const row of rows) {
        const isWanted =
          (status === undefined || row.status === status) &&
          (trigger === undefined || row.trigger_kind === trigger)
        if (isWanted) {
          const shown = ROW_BYTES + row.shown_bytes
          const isFull = ids.length === limit || (ids.length > 0 && bytes + shown > PAGE_BYTES)
          if (isFull) return { ids, next: last }
          ids.push(row.id)
          bytes += shown
        }
        last = row.id
      }
      if (rows.length < wanted) return { ids, next: undefined }
    }
    return { ids, next: last }
  }
}
