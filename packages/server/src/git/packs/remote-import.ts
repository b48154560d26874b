// Copies the branches and tags of a repository elsewhere. The address has been judged by the caller, who also
// says where it may connect; nothing here leads anywhere else, and a credential is seen by nobody but the remote.

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { isIP, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { outOfSpaceIn } from '../../platform/outages.ts'
import { type FilePath, parseFilePath, parseOid, parseRefName, type RefName } from '../names.ts'
import { type Access, type Git, GitError, GitTimeout, type OpenRepo, openRepo } from '../process/command.ts'
import type { Ref } from '../protocol/advertisement.ts'

export interface ImportRequest extends Pick<Access, 'owner' | 'signal'> {
  url: string
  /** An empty directory that is thrown away once its packs are taken. */
  scratch: string
  credentials?: { username: string; password: string }
  /** The address to connect to instead of asking for the host's, so that it is the one that was judged. */
  address?: string
  allowHttp?: boolean
  /** Whose certificates are believed, in PEM; without, git's own choice. */
  authorities?: string | undefined
  maxBytes: number
  timeoutMs: number
  onProgress?: (progress: ImportProgress) => void
}

export interface ImportProgress {
  phase: 'receiving' | 'resolving'
  percent: number
  bytes: number
}

interface ImportResult {
  refs: Ref[]
  /** Where the remote's HEAD points, also when that branch has no commit yet. */
  defaultBranch: RefName | undefined
  /** Holds the one pack, in its folder `pack`; undefined when the remote is empty. */
  objectsDir: string | undefined
}

export type ImportFailure =
  | 'invalid_url'
  | 'unreachable'
  | 'certificate'
  | 'authentication'
  | 'not_a_repository'
  | 'too_large'
  | 'timeout'
  /** This machine's git cannot speak HTTP, or the remote has another object format. */
  | 'unsupported'
  | 'failed'

/** Says only the reason: what git or the remote said may repeat an address or a credential. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
  readonly reason: ImportFailure
  constructor(reason: ImportFailure) {
    super(`the import failed: ${reason}`)
    this.reason = reason
  }
}

const POLL_MS = 200

/** Throws ImportError. */
export async function importRemote(git: Git, request: ImportRequest): Promise<ImportResult> {
  const { scratch, owner, signal, timeoutMs } = request
  const config = { ...configFor(request), ...(await believing(request)) }
  const repo = openRepo(git, join(scratch, 'import.git'), { owner, signal, timeoutMs })
  try {
    await clone(repo, request, config)
    return await examine(repo)
  } catch (error) {
    if (signal?.aborted || error instanceof ImportError || outOfSpaceIn(error)) throw error
    throw new ImportError(reasonOf(error))
  }
}

async function examine(repo: OpenRepo): Promise<ImportResult> {
  const refs = await listRefs(repo)
  const head = await readHead(repo.gitDir)
  const defaultBranch = head === `refs/heads/${UNKNOWN_BRANCH}` ? undefined : head
  // Any page that answers looks like an empty repository without a HEAD.
  if (refs.length === 0 && !defaultBranch) throw new ImportError('not_a_repository')
  return { refs, defaultBranch, objectsDir: await onePack(repo) }
}

async function clone(repo: OpenRepo, request: ImportRequest, config: Record<string, string>): Promise<void> {
  const { signal, maxBytes, onProgress } = request
  await mkdir(repo.gitDir)
  const tooLarge = new AbortController()
  let bytes = 0
  let polling: Promise<void> | undefined
  const timer = setInterval(() => {
    polling ??= sizeOf(repo.gitDir).then((size) => {
      bytes = size
      polling = undefined
      if (size > maxBytes) tooLarge.abort()
    })
  }, POLL_MS)
  try {
    await repo.run({
      verb: 'clone',
      options: [
        '--bare',
        '--template=',
        '--no-recurse-submodules',
        '--progress',
        '--end-of-options',
        PLACEHOLDER,
      ],
      values: [parseFilePath(repo.gitDir) as FilePath],
      config,
      signal: signal ? AbortSignal.any([signal, tooLarge.signal]) : tooLarge.signal,
      onStderr: (chunk) => {
        const progress = onProgress && parseProgress(chunk.toString('latin1'))
        if (progress) onProgress({ ...progress, bytes })
      },
    })
  } catch (error) {
    throw tooLarge.signal.aborted && !signal?.aborted ? new ImportError('too_large') : error
  } finally {
    clearInterval(timer)
    await polling
  }
  if ((await sizeOf(repo.gitDir)) > maxBytes) throw new ImportError('too_large')
}

// Stands for the address in the arguments, which every user of the machine can see.
const PLACEHOLDER = 'import:remote'
// What HEAD names when the remote does not say.
const UNKNOWN_BRANCH = 'said-by-nobody'

function configFor(request: ImportRequest): Record<string, string> {
  const { url, username, password } = parseUrl(request)
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  return {
    [`url.${url.origin}${url.pathname}.insteadOf`]: PLACEHOLDER,
    'init.defaultBranch': UNKNOWN_BRANCH,
    'protocol.allow': 'never',
    [`protocol.${url.protocol.slice(0, -1)}.allow`]: 'always',
    'http.followRedirects': 'false',
    'http.proxy': '',
    // A remote that falls silent is given up; one that is still counting says a little now and then.
    'http.lowSpeedLimit': '1',
    'http.lowSpeedTime': '120',
    'transfer.bundleURI': 'false',
    'transfer.fsckObjects': 'true',
    ...oldMistakes,
    ...(request.address && { 'http.curloptResolve': pinned(url, request.address) }),
    ...((username || password) && { 'http.extraHeader': `Authorization: Basic ${basic}` }),
  }
}

async function believing({ authorities, scratch }: ImportRequest): Promise<Record<string, string>> {
  if (authorities === undefined) return {}
  const file = join(scratch, 'authorities.pem')
  await writeFile(file, authorities)
  return { 'http.sslCAInfo': file }
}

function pinned(url: URL, address: string): string {
  if (!isIP(address)) throw new RangeError('not an IP address')
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return `${url.hostname}:${port}:${isIPv6(address) ? `[${address}]` : address}`
}

/** What fsck dislikes but old and honest histories contain. */
const oldMistakes = Object.fromEntries(
  [
    'zeroPaddedFilemode',
    'missingSpaceBeforeDate',
    'badTimezone',
    'missingEmail',
    'missingNameBeforeEmail',
  ].map((mistake) => [`fetch.fsck.${mistake}`, 'warn']),
)

/** Credentials may also stand in the address, where people paste them. */
function parseUrl({ url: text, allowHttp, credentials }: ImportRequest) {
  const url = URL.parse(text)
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && allowHttp)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (!url || !isAllowed || url.search || url.hash || /[\x00-\x1f]/.test(text))
    throw new ImportError('invalid_url')
  try {
    const { username, password } = credentials ?? {
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    }
    return { url, username, password }
  } catch {
    throw new ImportError('invalid_url')
  }
}

function reasonOf(error: unknown): ImportFailure {
  if (error instanceof GitTimeout) return 'timeout'
  if (!(error instanceof GitError)) return 'failed'
  const said = error.stderr
  if (/remote helper for|remote-https?' is not a git command/.test(said)) return 'unsupported'
  if (
    /Authentication failed|terminal prompts disabled|could not read (Username|Password)|error: 40[13]/.test(
      said,
    )
  ) {
    return 'authentication'
  }
  if (/too slow|timed out/i.test(said)) return 'timeout'
  if (
    /repository '.*' not found|error: 404|not valid: is this a git repository|update-server-info/.test(said)
  ) {
    return 'not_a_repository'
  }
  if (/certificate/i.test(said)) return 'certificate'
  if (/Could not resolve|Failed to connect|Couldn't connect|refused|reset|SSL|TLS/i.test(said)) {
    return 'unreachable'
  }
  return 'failed'
}

function parseProgress(text: string): Omit<ImportProgress, 'bytes'> | undefined {
  const last = [...text.matchAll(/(Receiving objects|Resolving deltas): +(\d+)%/g)].at(-1)
  const phase = last?.[1] === 'Receiving objects' ? 'receiving' : 'resolving'
  return last && { phase, percent: Number(last[2]) }
}

async function listRefs(repo: OpenRepo): Promise<Ref[]> {
  const { stdout } = await repo.run({
    verb: 'show-ref',
    options: ['--dereference', '--heads', '--tags'],
    accept: [0, 1],
    maxBytes: 256 * 1024 * 1024,
  })
  const refs = new Map<string, Ref>()
  for (const line of stdout.toString('utf8').split('\n')) {
    if (line === '') continue
    const oid = parseOid(line.slice(0, line.indexOf(' ')))
    // Longer ids: a repository of another object format.
    if (!oid) throw new ImportError('unsupported')
    const target = line.slice(41)
    const tag = target.endsWith('^{}') && refs.get(target.slice(0, -3))
    if (tag) tag.peeled = oid
    const name = parseRefName(target)
    if (name) refs.set(name, { name, oid, peeled: null })
  }
  return [...refs.values()]
}

async function readHead(gitDir: string): Promise<RefName | undefined> {
  const head = await readFile(join(gitDir, 'HEAD'), 'utf8')
  return parseRefName(/^ref: (.*)\n$/.exec(head)?.[1] ?? '')
}

/** A remote without the smart protocol hands over files one by one. */
async function onePack(repo: OpenRepo): Promise<string | undefined> {
  const objects = join(repo.gitDir, 'objects')
  const packs = async () =>
    (await readdir(join(objects, 'pack'))).filter((name) => name.endsWith('.pack')).length
  const hasLoose = (await readdir(objects)).some((name) => /^[0-9a-f]{2}$/.test(name))
  if (hasLoose || (await packs()) > 1) await repo.run({ verb: 'repack', options: ['-a', '-d', '-q'] })
  return (await packs()) === 1 ? objects : undefined
}

async function sizeOf(directory: string): Promise<number> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => {
      const path = join(file.parentPath, file.name)
      return stat(path).then(
        (found) => found.size,
        () => 0,
      )
    })
  return (await Promise.all(sizes)).reduce((total, size) => total + size, 0)
}
