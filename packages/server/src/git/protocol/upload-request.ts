// What a client asks git-upload-pack for: the refs, or a fetch, and whether that is a clone.

import { createHash } from 'node:crypto'
import { createPauses } from '../../platform/pauses.ts'
import type { LsRefsOptions, ProtocolVersion } from './advertisement.ts'
import { createFraming, ProtocolError, packetText, readPackets } from './pkt-line.ts'

/** 'nothing' comes from a client that only tries whether it may post; its answer is empty. */
type UploadRequest = { kind: 'nothing' } | { kind: 'ls-refs'; options: LsRefsOptions } | FetchRequest

/** Asks for objects, in a way that git answers. */
export interface FetchRequest {
  kind: 'fetch'
  version: ProtocolVersion
  /** The request as it was understood, framed again. */
  body: Buffer
  clone: CloneRequest | undefined
}

/** A fetch without negotiation. Its answer depends on the request, on objects, and perhaps on which tags exist. */
export interface CloneRequest {
  digest: string
  followsTags: boolean
}

export const MAX_UPLOAD_BYTES = 32 * 1024 * 1024
const MAX_LINES = 250_000
/** Each takes more memory than its bytes: of a request with more of them git alone knows what they say. */
const MAX_KNOWN_LINES = 50_000

/** Reads a whole request for git-upload-pack. Throws ProtocolError. */
export async function readUploadRequest(
  body: AsyncIterable<Uint8Array>,
  { version }: { version: ProtocolVersion },
): Promise<UploadRequest> {
  const reader = readPackets(body, MAX_UPLOAD_BYTES)
  const request = createFraming()
  const lines: string[] = []
  const commands: string[] = []
  const pause = createPauses()
  let packets = 0
  for (let packet = await reader.next(); packet; packet = reader.ready() ?? (await reader.next())) {
    if (packet.kind === 'response-end') throw new ProtocolError('unexpected packet')
    if (packets++ === MAX_LINES) throw new ProtocolError('the request is too large')
    // A line may be long, so each counts; a tick for every short one would be most of what it takes.
    const rest = pause()
    if (rest) await rest
    if (packet.kind === 'data') {
      const line = checkedLine(packet.data)
      if (lines.length <= MAX_KNOWN_LINES) lines.push(line)
      if (line.startsWith('command=') && commands.length < 2) commands.push(line.slice('command='.length))
    }
    // What is answered here is not for git.
    if (version !== 2 || commands[0] !== 'ls-refs') request.add(packet)
    // Version 2 sends one command; the older ones end with the body.
    if (version === 2 && packet.kind === 'flush') break
  }
  if (lines.length === 0) return { kind: 'nothing' }
  const command = version === 2 ? onlyCommand(commands) : 'fetch'
  if (command === 'ls-refs') return { kind: 'ls-refs', options: readLsRefs(lines) }
  const clone = command === 'fetch' ? cloneOf(version, lines) : undefined
  return { kind: 'fetch', version, body: await request.joined(), clone }
}

/** Object ids are checked here, because git ends without an answer when they are malformed. */
function checkedLine(data: Buffer): string {
  const line = packetText(data)
  if (/^(want|have|shallow) /.test(line) && !/^\w+ [0-9a-f]{40}( |$)/.test(line))
    throw new ProtocolError('bad object id')
  return line
}

function onlyCommand(commands: readonly string[]): 'ls-refs' | 'fetch' | 'object-info' {
  const [command] = commands
  if (commands.length === 1 && (command === 'ls-refs' || command === 'fetch' || command === 'object-info'))
    return command
  throw new ProtocolError('unknown command')
}

const CAPABILITY = /^(command|agent|server-option|session-id)=|^object-format=sha1$/

function readLsRefs(lines: readonly string[]): LsRefsOptions {
  const options = { peel: false, symrefs: false, unborn: false, prefixes: [] as string[] }
  for (const line of lines) {
    if (line === 'peel' || line === 'symrefs' || line === 'unborn') options[line] = true
    else if (line.startsWith('ref-prefix ')) options.prefixes.push(line.slice('ref-prefix '.length))
    else if (!CAPABILITY.test(line)) throw new ProtocolError('unexpected line in ls-refs')
  }
  // As git does where there are very many of them.
  return lines.length > MAX_KNOWN_LINES ? { ...options, prefixes: [] } : options
}

// Negotiation, and arguments that name refs, whose meaning changes when refs move.
const UNCACHEABLE = /^(have|shallow|deepen-not|want-ref) |^filter .*sparse/
// What a client says about itself.
const IDENTITY = /^(agent|session-id)=/

function cloneOf(version: ProtocolVersion, lines: readonly string[]): CloneRequest | undefined {
  if (lines.length > MAX_KNOWN_LINES) return undefined
  if (!lines.includes('done') || lines.some((line) => UNCACHEABLE.test(line))) return undefined
  // The older versions put capabilities behind the first want.
  const words = lines.flatMap((line) => {
    const [, want, capabilities] = /^(want [0-9a-f]{40}) (.*)$/.exec(line) ?? []
    return want ? [want, ...(capabilities ?? '').split(' ')] : [line]
  })
  const meaning = new Set(words.filter((word) => !IDENTITY.test(word)).sort())
  if (![...meaning].some((word) => word.startsWith('want '))) return undefined
  const text = JSON.stringify([version === 2 ? 2 : 0, ...meaning])
  const digest = createHash('sha256').update(text).digest('hex')
  return { digest, followsTags: meaning.has('include-tag') }
}
