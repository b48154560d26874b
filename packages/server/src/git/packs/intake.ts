// A pushed pack is received, checked and indexed in a directory of its own. Until it is adopted nobody else sees
// it, and when it is refused the directory is simply removed.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Oid } from '../names.ts'
import { GitOverLimit } from '../process/allowances.ts'
import { GitError, type OpenRepo } from '../process/command.ts'
import type { InputFile } from '../process/feed.ts'
import { complaintsIn, progressOnly } from '../process/progress.ts'

/** The client's pack was not taken. The message is a reason for its user. */
export class PackRejected extends Error {
  override readonly name = 'PackRejected'
}

/** A repository whose new objects go to a directory of their own. */
export interface QuarantinedRepo extends OpenRepo {
  readonly objectsDir: string
}

/** Runs `work` with a new, empty object directory below `parent`, which is gone afterwards. */
export async function withQuarantine<T>(
  repo: OpenRepo,
  parent: string,
  work: (quarantined: QuarantinedRepo) => Promise<T>,
): Promise<T> {
  const objectsDir = join(parent, `push-${randomBytes(12).toString('hex')}`)
  try {
    await mkdir(join(objectsDir, 'pack'), { recursive: true, mode: 0o700 })
    return await work({ ...repo.with({ quarantine: { objectsDir } }), objectsDir })
  } finally {
    await rm(objectsDir, { recursive: true, force: true })
  }
}

interface Intake {
  /** All of it must be here, so that no process waits for a client. */
  pack: AsyncIterable<Uint8Array> | InputFile
  /** How large it may be once it is complete: a few bytes can ask for large objects to be put beside them. */
  maxBytes?: number
  onProgress?: (chunk: Buffer) => void
}

interface Ingested {
  hasObjects: boolean
  /** Whatever its objects name is in the pack too. */
  isClosed: boolean
}

/** Indexes the pack into the quarantine. Throws PackRejected. */
export async function ingestPack(repo: QuarantinedRepo, intake: Intake): Promise<Ingested> {
  try {
    const { stdout, exitCode } = await repo.run({
      verb: 'index-pack',
      options: ['--stdin', '--fix-thin', TOLERATED_FAULTS, TELL_WHETHER_CLOSED, '--show-resolving-progress'],
      // Larger blobs are hashed bit by bit and not held in memory. What is adopted is synced then.
      config: { 'core.bigFileThreshold': '32m', 'core.fsync': 'none' },
      stdin: intake.pack,
      ...(intake.maxBytes !== undefined && { maxFileBytes: intake.maxBytes }),
      // A failure is reported as a reason.
      onStderr: progressOnly((text) => intake.onProgress?.(text)),
      accept: [CLOSED, NOT_CLOSED],
    })
    return { hasObjects: !stdout.includes(EMPTY_PACK_NAME), isClosed: exitCode === CLOSED }
  } catch (error) {
    if (error instanceof GitOverLimit)
      throw new PackRejected('to check this pack takes more time, memory or room than is allowed here', {
        cause: error,
      })
    if (!(error instanceof GitError) || error.exitCode === null) throw error
    throw new PackRejected(reasonIn(error.stderr), { cause: error })
  }
}

/**
 * Whether what is in quarantine is all there is. While a repository is held packs come to it and none goes, so if it has
 * none now it had none when the quarantine was filled. What is closed then has everything that it leads to.
 */
export async function isAllThereIs(repo: QuarantinedRepo): Promise<boolean> {
  return (await readdir(join(repo.gitDir, 'objects/pack'))).length === 0
}

/** Which of these tips cannot be reached whole: they or something below them is missing. */
export async function findBrokenTips(repo: OpenRepo, tips: readonly Oid[]): Promise<Set<Oid>> {
  const distinct = [...new Set(tips)]
  if (distinct.length === 0 || (await isConnected(repo, distinct))) return new Set()
  // Beyond this many it is not worth a process each to tell the good from the bad.
  if (distinct.length === 1 || distinct.length > MAX_BLAMED) return new Set(distinct)
  const broken = new Set<Oid>()
  for (const tip of distinct) if (!(await isConnected(repo, [tip]))) broken.add(tip)
  return broken
}

const MAX_BLAMED = 200

async function isConnected(repo: OpenRepo, tips: readonly Oid[]): Promise<boolean> {
  const { exitCode } = await repo.run({
    verb: 'rev-list',
    work: 'check',
    options: ['--objects', '--stdin', '--not', '--all', '--quiet'],
    stdin: `${tips.join('\n')}\n`,
    accept: [0, 1, 128],
  })
  return exitCode === 0
}

// Faults of old tools that real histories are full of and that harm nobody. Everything else git knows is fatal.
const TOLERATED_FAULTS =
  '--strict=zeroPaddedFilemode=ignore,badTimezone=ignore,missingSpaceBeforeDate=ignore' as const

// How index-pack ends then says whether it was. What is wrong with a pack ends it with another code.
const TELL_WHETHER_CLOSED = '--check-self-contained-and-connected'
const CLOSED = 0
const NOT_CLOSED = 1

/** The name of a pack without objects: the hash of its header. */
const EMPTY_PACK_NAME = '029d08823bd8a8eab510ad6ac75c823cfd3ed31e'

const ABSOLUTE_PATH = /'?\/\S+/g
const MAX_REASON = 300

function reasonIn(stderr: string): string {
  const reasons = complaintsIn(stderr).map((line) => line.replace(ABSOLUTE_PATH, 'a file'))
  return reasons.join('; ').slice(0, MAX_REASON) || 'the pack could not be indexed'
}
