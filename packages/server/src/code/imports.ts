import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repo } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { by, type EventsService } from '../events/service.ts'
import { orgScope, repoScope } from '../events/types.ts'
import { shortRef } from '../git/names.ts'
import type { PackStore } from '../git/packs/pack-store.ts'
import {
  ImportError,
  type ImportFailure,
  type ImportProgress,
  importRemote,
} from '../git/packs/remote-import.ts'
import type { Git } from '../git/process/command.ts'
import { inspectCertificate } from '../platform/certificates.ts'
import type { Clock } from '../platform/clock.ts'
import type { Egress } from '../platform/egress.ts'
import { Fault, invalid } from '../platform/fault.ts'
import { type Room, requireRoom } from '../platform/room.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import { tooManyRefs } from './landing.ts'
import * as refStore from './ref-store.ts'
import * as store from './store.ts'

interface ImportsDeps {
  database: Database
  events: EventsService
  repos: ReposService
  egress: Egress
  git: Git
  packs: PackStore
  room: Room
  clock: Clock
  scratchDir: string
  /** Whose certificates are believed; undefined leaves it to git. */
  authorities: (() => string) | undefined
  limits: { repoBytes: number; refsPerRepo: number }
}

interface ImportInput {
  name: string
  url: string
  credentials?: { username: string; password: string } | undefined
}

const TIMEOUT_MS = 30 * 60_000
/** How far an import must get before it says so again. */
const PROGRESS_STEP = 10

const explanations: Record<ImportFailure, string> = {
  invalid_url: 'the URL cannot be used',
  unreachable: 'the remote could not be reached',
  certificate: 'the certificate was not accepted',
  authentication: 'the remote asks for other credentials',
  not_a_repository: 'there is no git repository at this URL',
  too_large: 'the repository is too large',
  timeout: 'the remote took too long',
  unsupported: 'this remote is not supported',
  failed: 'the remote did not hand over its history',
}

export type ImportsService = ReturnType<typeof createImportsService>

/** Brings a repository from elsewhere: all of it or, when anything goes wrong, nothing. */
export function createImportsService(deps: ImportsDeps) {
  const { database, events, repos, egress, git, packs, room, clock, scratchDir, authorities, limits } = deps

  async function fetchRemote({
    caller,
    input: { name, credentials },
    url,
    scratch,
    signal,
  }: {
    caller: Caller
    input: ImportInput
    url: URL
    scratch: string
    signal: AbortSignal
  }) {
    const destination = await egress.judge(url).catch((cause: unknown) => {
      throw failed(name, 'unreachable', cause)
    })
    return importRemote(git, {
      url: url.href,
      scratch,
      ...(credentials && { credentials }),
      address: destination.address,
      allowHttp: egress.isTrusted(url),
      authorities: authorities?.(),
      maxBytes: Math.min(limits.repoBytes, await repos.findOrgRoom(caller.org.id)),
      timeoutMs: TIMEOUT_MS,
      signal,
      owner: { id: caller.org.id, isProvisional: caller.org.provisional },
      onProgress: tellProgress(caller, name),
    }).catch(async (error: unknown) => {
      if (!(error instanceof ImportError)) throw error
      // Git does not always say what it is, and not always in the same words.
      const problem = error.reason === 'certificate' && (await inspectCertificate(url, destination.address))
      throw failed(name, error.reason, error, problem || undefined)
    })
  }

  /** Whoever waits can watch the organization's log. */
  function tellProgress(caller: Caller, name: string): (progress: ImportProgress) => void {
    let told = ''
    return ({ phase, percent, bytes }) => {
      const step = `${phase} ${Math.floor(percent / PROGRESS_STEP)}`
      if (step === told) return
      told = step
      const event = {
        type: 'repo.import.progress',
        subject: name,
        payload: { phase, percent, bytes },
      } as const
      void database
        .transact((tx) => events.append(tx, { ...by(caller), scope: orgScope(caller.org.id), ...event }))
        .catch(() => {})
    }
  }

  return {
    async import(caller: Caller, input: ImportInput, signal: AbortSignal): Promise<Repo> {
      const url = parseUrl(input.url)
      repos.requireMayCreate(caller)
      await repos.requireFree(caller, input.name)
      await requireRoom(room)
      const scratch = join(scratchDir, `import-${randomBytes(8).toString('hex')}`)
      await mkdir(scratch, { recursive: true })
      try {
        const { refs, defaultBranch, objectsDir } = await fetchRemote({ caller, input, url, scratch, signal })
        if (refs.length > limits.refsPerRepo) throw tooManyRefs(limits.refsPerRepo, refs.length)
        const pack = objectsDir && (await packs.adopt(objectsDir))
        const created = database.transact(async (tx) => {
          const repo = await repos.createIn(tx, caller, {
            name: input.name,
            defaultBranch: defaultBranch ? shortRef(defaultBranch).name : 'main',
            source: publicUrl(url),
            sizeBytes: pack ? pack.bytes : 0,
          })
          await refStore.insertRefs(tx, repo.id, refs)
          if (pack) await store.insertPack(tx, repo.id, pack, clock())
          await events.append(tx, {
            ...by(caller),
            scope: repoScope(repo.id),
            type: 'repo.imported',
            subject: input.name,
            payload: { source: publicUrl(url), refs: refs.length },
          })
          return repos.presenterFor(caller)(repo)
        })
        return await created.catch(async (error: unknown) => {
          // Taken by somebody else meanwhile, or no room: nothing of it was kept.
          if (error instanceof Fault && pack) await packs.remove(pack.packId)
          throw error
        })
      } finally {
        await rm(scratch, { recursive: true, force: true })
      }
    },
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid(['url'], 'Give an https URL')
  if (url.username || url.password)
    throw invalid(['url'], 'Give credentials in their own field, not in the URL')
  return url
}

/** What may be shown of an address. */
const publicUrl = ({ origin, pathname }: URL): string => origin + pathname

const failed = (name: string, reason: ImportFailure, cause: unknown, words = explanations[reason]) =>
  new Fault('IMPORT_FAILED', { name }, { cause, message: `Repo import failed: ${words}` })
