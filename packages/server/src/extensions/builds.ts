import type { Runtime } from '@trellis/contract'
import type { Repositories } from '../code/repositories.ts'
import { type Oid, parseTreePath } from '../git/names.ts'
import type { ObjectReader } from '../git/objects/reader.ts'
import type { Clock, Stopwatch } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import { hashOfJson, type Sha256 } from '../platform/hashes.ts'
import type { Places } from '../platform/places.ts'
import { createRecent } from '../platform/recent.ts'
import { type Room, requireRoom } from '../platform/room.ts'
import { placeOwnerOf } from '../repos/place-owner.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import type { BuildMessage } from './build-messages.ts'
import { BUNDLER_VERSION, type Builder, BuilderUnavailable, type BuildOutcome } from './builder.ts'
import type { BundleFiles } from './bundle-files.ts'
import type { Problem } from './problems.ts'
import { createSources, type Inputs } from './sources.ts'
import * as store from './store.ts'

const MAX_BUNDLE_BYTES = 4 * 1024 * 1024
/** For all that one request has to build: what is not done by then is done the next time. */
const REQUEST_MS = 60_000
/** Most of what a build takes is waiting for other processes. */
const AT_ONCE = 2
/** To begin a turn takes as long as a small build does. */
const TURN_MS = 500
/** A build that took too long may have been unlucky. */
const RETRY_MS = 10 * 60_000
const FITTING_KEPT = 20_000
const TOUCH_EVERY_MS = 24 * 60 * 60_000

/** A module that is to be built from the files of a commit. */
export interface Module {
  /** The folder it is in. */
  path: string
  folder: Oid
  entry: string
  runtime: Runtime
}

interface BuiltModule {
  moduleHash: Sha256
  /** Of the bundle, and of all that is stored of it. */
  bytes: number
  storedBytes: number
  problems?: undefined
}

interface BuildRequest {
  repo: RepoRow
  commit: Oid
  modules: readonly Module[]
  signal: AbortSignal
}

interface BuildListener {
  /** Asked before each: no other is begun then. */
  isOver(): boolean
  shallRemember?(module: Module): boolean
  onBuilt(module: Module, built: Built): void | Promise<void>
}

export type Built = BuiltModule | { problems: Problem[] }

type Outside = [path: string, oid: Oid | null][]

export type Builds = ReturnType<typeof createBuilds>

/** What modules are built to: from memory where everything that went in is the same, wherever it is. */
export function createBuilds(deps: {
  database: Database
  repositories: Repositories
  builder: Builder
  bundles: BundleFiles
  /** Under which builds run; each organization gets its turn. */
  pool: Places
  room: Room
  clock: Clock
  stopwatch: Stopwatch
  /** Hears how many bytes a bundle takes that was stored. */
  onStored(bytes: number): void
}) {
  const { database, repositories, builder, bundles, pool, room, clock, stopwatch, onStored } = deps

  /** Whether what a build has seen outside of its folder is in a commit: neither changes any more. */
  const fitting = createRecent<string, boolean>({ maxEntries: FITTING_KEPT })

  /** Builds anew, whatever is known. Each module is begun before those behind it, unless it is over by then. */
  async function buildEach(
    { repo, commit, modules, signal }: BuildRequest,
    { isOver, shallRemember = () => true, onBuilt }: BuildListener,
  ): Promise<void> {
    await requireRoom(room)
    const left = [...modules]
    let hasFailed = false
    const isDone = () => left.length === 0 || hasFailed || isOver()

    /** One after the other, with one process that reads the commit, for no longer than others can wait. */
    async function buildSome(objects: ObjectReader): Promise<void> {
      const begun = stopwatch()
      while (!isDone() && stopwatch() - begun < TURN_MS) {
        const module = left.shift() as Module
        const { built, inputs, mayRetry } = await buildOne({ repo, commit, signal }, module, objects)
        if (shallRemember(module)) await remember(module, inputs, built, mayRetry)
        await onBuilt(module, built)
      }
    }

    async function buildInTurns(): Promise<void> {
      const owner = placeOwnerOf(repo)
      try {
        while (!isDone()) {
          using _slot = await pool.acquire(owner, signal)
          await repositories.withObjects(repo, signal, buildSome)
        }
      } catch (error) {
        hasFailed = true
        throw error
      }
    }

    const turns = Array.from({ length: Math.min(AT_ONCE, left.length) }, buildInTurns)
    const ends = await Promise.allSettled(turns)
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async function buildOne(
    { repo, commit, signal }: Omit<BuildRequest, 'modules'>,
    module: Module,
    objects: ObjectReader,
  ): Promise<{ built: Built; inputs: Inputs; mayRetry: boolean }> {
    const { answer, inputs } = createSources(objects, commit, module)
    const { entry, runtime } = module
    const outcome = await builder.build({ entry, runtime, answer, signal }).catch((error: unknown) => {
      throw error instanceof BuilderUnavailable
        ? new Fault('EXTENSION_BUILD_UNAVAILABLE', { name: repo.name }, { cause: error })
        : error
    })
    return { built: await judge(module, outcome), inputs, mayRetry: 'gaveUp' in outcome }
  }

  async function judge({ entry }: Module, outcome: BuildOutcome): Promise<Built> {
    if ('gaveUp' in outcome) return { problems: [{ path: entry, message: outcome.gaveUp }] }
    if ('messages' in outcome)
      return { problems: outcome.messages.map((message) => problemOf(entry, message)) }
    const { code, sourceMap } = outcome.bundle
    if (code.length > MAX_BUNDLE_BYTES)
      return {
        problems: [
          { path: entry, message: `The bundle has ${code.length} bytes, and may have ${MAX_BUNDLE_BYTES}` },
        ],
      }
    const storedBytes = code.length + sourceMap.length
    const moduleHash = await bundles.put(outcome.bundle)
    onStored(storedBytes)
    return { moduleHash, bytes: code.length, storedBytes }
  }

  async function remember(module: Module, inputs: Inputs, built: Built, mayRetry: boolean): Promise<void> {
    const outside: Outside = [...inputs].filter(([path]) => !path.startsWith(`${module.path}/`)).toSorted()
    await database.transact((tx) =>
      store.putBuild(tx, {
        folder: folderKey(module),
        variant: hashOfJson(outside),
        outside: JSON.stringify(outside),
        module_hash: built.problems ? null : built.moduleHash,
        bytes: built.problems ? 0 : built.bytes,
        stored_bytes: built.problems ? 0 : built.storedBytes,
        problems: built.problems ? JSON.stringify(built.problems) : null,
        retry_at: mayRetry ? clock() + RETRY_MS : null,
        used_at: clock(),
      }),
    )
  }

  /** Tells which of the builds are of what is in the commit. */
  async function findOf(
    repo: RepoRow,
    commit: Oid,
    rows: readonly store.BuildRow[],
    signal: AbortSignal,
  ): Promise<(row: store.BuildRow) => boolean> {
    const keyOf = ({ folder, variant }: store.BuildRow) => `${commit} ${folder} ${variant}`
    const found = new Map(rows.map((row) => [row, fitting.get(keyOf(row))]))
    const unknown = rows.filter((row) => found.get(row) === undefined)
    if (unknown.length > 0)
      await repositories.withObjects(repo, signal, async (objects) => {
        const isThere = createLookup(objects, commit)
        for (const row of unknown) {
          const isFitting = await isThere(JSON.parse(row.outside) as Outside)
          fitting.set(keyOf(row), isFitting)
          found.set(row, isFitting)
        }
      })
    return (row) => found.get(row) === true
  }

  /** What is known of the modules, without building any. */
  async function recall(repo: RepoRow, commit: Oid, modules: readonly Module[], signal: AbortSignal) {
    const keys = new Map<string, Module>(modules.map((module) => [folderKey(module), module]))
    const rows = keys.size === 0 ? [] : await store.listBuilds(database.db, [...keys.keys()])
    const fresh = rows.filter(({ retry_at }) => retry_at === null || retry_at > clock())
    const known = new Map<Module, Built>()
    const take = (row: store.BuildRow) => {
      const module = keys.get(row.folder)
      if (module && !known.has(module)) known.set(module, builtOf(row))
    }
    for (const row of fresh) if (row.outside === '[]') take(row)
    const others = fresh.filter(({ outside }) => outside !== '[]')
    const isOf = await findOf(repo, commit, others, signal)
    for (const row of others) if (isOf(row)) take(row)
    const idle = rows.filter(({ used_at }) => used_at < clock() - TOUCH_EVERY_MS)
    if (idle.length > 0)
      await database.transact((tx) =>
        store.touchBuilds(
          tx,
          idle.map(({ folder }) => folder),
          clock(),
        ),
      )
    return known
  }

  return {
    recall,
    buildEach,

    /** All of the modules, built where that is not known yet. */
    async ensure(
      repo: RepoRow,
      commit: Oid,
      modules: readonly Module[],
      signal: AbortSignal,
    ): Promise<ReadonlyMap<Module, Built>> {
      const known = await recall(repo, commit, modules, signal)
      const missing = modules.filter((module) => !known.has(module))
      const begun = stopwatch()
      await buildEach(
        { repo, commit, modules: missing, signal },
        {
          isOver: () => stopwatch() - begun > REQUEST_MS,
          onBuilt: (module, built) => {
            known.set(module, built)
          },
        },
      )
      for (const module of missing)
        if (!known.has(module))
          known.set(module, {
            problems: [{ path: module.entry, message: 'This has not been built yet: ask again' }],
          })
      return known
    },
  }
}

const folderKey = ({ path, folder, entry, runtime }: Module): Sha256 =>
  hashOfJson([BUNDLER_VERSION, runtime, path, entry, folder])

const builtOf = ({ problems, module_hash, bytes, stored_bytes }: store.BuildRow): Built =>
  problems === null
    ? { moduleHash: module_hash as Sha256, bytes, storedBytes: stored_bytes }
    : { problems: JSON.parse(problems) as Problem[] }

/** Whether the commit has at each path what was there before. */
function createLookup(objects: ObjectReader, commit: Oid) {
  const seen = new Map<string, Oid | null>()
  return async (outside: Outside): Promise<boolean> => {
    for (const [path, oid] of outside) {
      if (!seen.has(path)) {
        const parsed = parseTreePath(path)
        const found = parsed && (await objects.findAt(commit, parsed))
        seen.set(path, found?.type === 'blob' ? found.oid : null)
      }
      if (seen.get(path) !== oid) return false
    }
    return true
  }
}

function problemOf(entry: string, { file = entry, line, column, text }: BuildMessage): Problem {
  return { path: file, message: line === undefined ? text : `${file}:${line}:${column}: ${text}` }
}
