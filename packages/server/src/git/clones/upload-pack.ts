// A fetch: what the client asks is read here, what needs objects is answered by git's own upload-pack.

import { createHash } from 'node:crypto'
import { parseFilePath } from '../names.ts'
import { inBursts } from '../process/bursts.ts'
import { GitError, type Repo } from '../process/command.ts'
import type { LsRefsOptions, ProtocolVersion } from '../protocol/advertisement.ts'
import {
  dataPacket,
  delimPacket,
  flushPacket,
  ProtocolError,
  packetText,
  readPackets,
} from '../protocol/pkt-line.ts'
import { type PlainClone, plainCloneOf } from './plain-clone.ts'

/** 'nothing' comes from a client that only tries whether it may post; its answer is empty. */
export type UploadRequest = { kind: 'nothing' } | { kind: 'ls-refs'; options: LsRefsOptions } | FetchRequest

export type FetchRequest = {
  kind: 'fetch'
  version: ProtocolVersion
  /** The request as it was understood, framed again. */
  body: Buffer
  clone: CloneRequest | undefined
  /** What it asks for, when that is no more than most clones do. */
  plain: PlainClone | undefined
}

/** A fetch without negotiation. Its answer depends on the request, on objects, and perhaps on which tags exist. */
export type CloneRequest = { digest: string; followsTags: boolean }

const defaultMaxBytes = 32 * 1024 * 1024
// Each costs more memory than its bytes.
const maxLines = 250_000

/** Reads a whole request for git-upload-pack. Throws ProtocolError. */
export async function readUploadRequest(
  body: AsyncIterable<Uint8Array>,
  options: { version: ProtocolVersion; maxBytes?: number },
): Promise<UploadRequest> {
  const { version, maxBytes = defaultMaxBytes } = options
  const reader = readPackets(body, maxBytes)
  const packets: Buffer[] = []
  const lines: string[] = []
  for (let packet = await reader.next(); packet; packet = await reader.next()) {
    if (packet.kind === 'response-end') throw new ProtocolError('unexpected packet')
    if (packets.length === maxLines) throw new ProtocolError('the request is too large')
    if (packet.kind === 'data') {
      lines.push(packetText(packet.data))
      packets.push(dataPacket(packet.data))
    } else packets.push(packet.kind === 'flush' ? flushPacket : delimPacket)
    // Version 2 sends one command; the older ones end with the body.
    if (version === 2 && packet.kind === 'flush') break
  }
  if (lines.length === 0) return { kind: 'nothing' }
  checkObjectIds(lines)
  const command = version === 2 ? readCommand(lines) : 'fetch'
  if (command === 'ls-refs') return { kind: 'ls-refs', options: readLsRefs(lines) }
  const clone = command === 'fetch' ? cloneOf(version, lines) : undefined
  const plain = version === 2 ? plainCloneOf(lines) : undefined
  return { kind: 'fetch', version, body: Buffer.concat(packets), clone, plain }
}

/** The name under which the answer to a clone may be kept and given to others with access to the repository. */
export function cloneKey(clone: CloneRequest, repository: { id: string; tagsVersion: string }): string {
  const parts = [clone.digest, repository.id, clone.followsTags ? repository.tagsVersion : '']
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/**
 * git's answer as it is made. Throws ProtocolError before the first byte when git refuses the request, and
 * anything else when the answer is broken: what was received by then is no whole answer.
 */
export async function* runUploadPack(
  repo: Repo,
  request: FetchRequest,
): AsyncGenerator<Buffer, void, undefined> {
  const path = parseFilePath(repo.gitDir)
  if (!path) throw new RangeError('the directory must be an absolute path')
  await using child = await repo.start({
    verb: 'upload-pack',
    options: ['--stateless-rpc', '--strict'],
    values: [path],
    stdin: request.body,
    protocolVersion: request.version,
  })
  let start: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of inBursts(child.stdout)) {
    if (!start) {
      yield chunk
      continue
    }
    start = Buffer.concat([start, chunk])
    if (start.length < refusalStart) continue
    throwRefusal(start)
    yield start
    start = undefined
  }
  await child.done.catch((error: unknown) => {
    // Without a word for the client, git has not understood the request.
    if (start?.length === 0 && error instanceof GitError && error.exitCode !== null)
      throw new ProtocolError('upload-pack refused the request', { cause: error })
    throw error
  })
  if (start?.length) yield start
}

const refusalStart = '0000ERR '.length

function throwRefusal(start: Buffer): void {
  if (start.toString('latin1', 4, refusalStart) !== 'ERR ') return
  const end = Number.parseInt(start.toString('latin1', 0, 4), 16)
  throw new ProtocolError(packetText(start.subarray(refusalStart, end)))
}

/** Checked here, because git ends without an answer when they are malformed. */
function checkObjectIds(lines: readonly string[]): void {
  for (const line of lines) {
    if (/^(want|have|shallow) /.test(line) && !/^\w+ [0-9a-f]{40}( |$)/.test(line))
      throw new ProtocolError('bad object id')
  }
}

function readCommand(lines: readonly string[]): 'ls-refs' | 'fetch' | 'object-info' {
  const commands = lines.filter((line) => line.startsWith('command=')).map((line) => line.slice(8))
  const [command] = commands
  if (commands.length === 1 && (command === 'ls-refs' || command === 'fetch' || command === 'object-info'))
    return command
  throw new ProtocolError('unknown command')
}

const capability = /^(command|agent|server-option|session-id)=|^object-format=sha1$/

function readLsRefs(lines: readonly string[]): LsRefsOptions {
  const options = { peel: false, symrefs: false, unborn: false, prefixes: [] as string[] }
  for (const line of lines) {
    if (line === 'peel' || line === 'symrefs' || line === 'unborn') options[line] = true
    else if (line.startsWith('ref-prefix ')) options.prefixes.push(line.slice('ref-prefix '.length))
    else if (!capability.test(line)) throw new ProtocolError('unexpected line in ls-refs')
  }
  return options
}

// Negotiation, and arguments that name refs, whose meaning changes when refs move.
const uncacheable = /^(have|shallow|deepen-not|want-ref) |^filter .*sparse/
// What a client says about itself.
const identity = /^(agent|session-id)=/

function cloneOf(version: ProtocolVersion, lines: readonly string[]): CloneRequest | undefined {
  if (!lines.includes('done') || lines.some((line) => uncacheable.test(line))) return undefined
  // The older versions put capabilities behind the first want.
  const words = lines.flatMap((line) => {
    const [, want, capabilities] = /^(want [0-9a-f]{40}) (.*)$/.exec(line) ?? []
    return want ? [want, ...(capabilities ?? '').split(' ')] : [line]
  })
  const meaning = new Set(words.filter((word) => !identity.test(word)).sort())
  if (![...meaning].some((word) => word.startsWith('want '))) return undefined
  const text = JSON.stringify([version === 2 ? 2 : 0, ...meaning])
  const digest = createHash('sha256').update(text).digest('hex')
  return { digest, followsTags: meaning.has('include-tag') }
}
