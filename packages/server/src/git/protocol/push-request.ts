// The first part of a push: which refs shall move from where to where. The pack follows in the same stream.

import { type Oid, parseOid, parseRefName, type RefName, ZERO_OID } from '../names.ts'
import { type PacketReader, ProtocolError, packetText, readPackets } from './pkt-line.ts'

/** One ref that shall move. One with a `problem` cannot, whatever the others do. */
export type PushCommand = {
  /** The name exactly as it was sent, for the report. */
  sent: Buffer
  before: Oid | null
  /** Null deletes. */
  after: Oid | null
} & ({ ref: RefName; problem: null } | { ref: null; problem: string })

/** What the client can take. */
export interface PushCapabilities {
  reportStatus: boolean
  sideband: boolean
  quiet: boolean
  atomic: boolean
}

/** A push that has been read up to its pack. */
export interface Push {
  /** None at all from a client that only tries whether it may post. The answer is then empty. */
  commands: PushCommand[]
  capabilities: PushCapabilities
  options: string[]
  /** A push that only deletes sends no pack. */
  expectsPack: boolean
  /** What follows in the body. Leaving it half read ends the iteration of the body. */
  pack: AsyncGenerator<Buffer, void, undefined>
}

/** Of everything before the pack. */
const MAX_BYTES = 32 * 1024 * 1024
/** Shallow lines count too. */
const MAX_COMMANDS = 100_000
const MAX_OPTIONS = 64
const MAX_OPTION_BYTES = 4096

/** Reads a request for git-receive-pack up to its pack. Throws ProtocolError. */
export async function readPush(body: AsyncIterable<Uint8Array>): Promise<Push> {
  const reader = readPackets(body, MAX_BYTES)
  const commands: PushCommand[] = []
  let shallow = 0
  const named = new Set<string>()
  let words: string[] | undefined
  for await (const packet of untilFlush(reader)) {
    const line = packet.at(-1) === 0x0a ? packet.subarray(0, -1) : packet
    if (commands.length + shallow === MAX_COMMANDS) throw new ProtocolError('too many refs in one push')
    if (line.toString('latin1', 0, 8) === 'shallow ') {
      // Where the client's history ends. What it then lacks is seen when the tips are checked.
      if (!parseOid(line.toString('latin1', 8))) throw new ProtocolError('bad shallow line')
      shallow++
    } else {
      const nul = words ? -1 : line.indexOf(0)
      words ??= nul < 0 ? [] : line.toString('utf8', nul + 1).split(' ')
      commands.push(readCommand(nul < 0 ? line : line.subarray(0, nul), named))
    }
  }
  const capabilities = readCapabilities(words ?? [])
  const options = words?.includes('push-options') ? await readOptions(reader) : []
  const expectsPack = commands.some((command) => command.after !== null)
  return { commands, capabilities, options, expectsPack, pack: reader.rest() }
}

async function* untilFlush(reader: PacketReader): AsyncGenerator<Buffer> {
  for (let first = true; ; first = false) {
    const packet = await reader.next()
    if (packet?.kind === 'flush' || (first && !packet)) return
    if (packet?.kind !== 'data') throw new ProtocolError('the list of commands does not end')
    yield packet.data
  }
}

const COMMAND_START = 82
// Far beyond what is accepted, and still short enough to be echoed in a report.
const MAX_SENT_NAME = 8192

function readCommand(line: Buffer, named: Set<string>): PushCommand {
  const start = line.toString('latin1', 0, COMMAND_START)
  if (start.startsWith('push-cert')) throw new ProtocolError('signed pushes are not supported')
  const [, before, after] = /^([0-9a-f]{40}) ([0-9a-f]{40}) $/.exec(start) ?? []
  const sent = line.subarray(COMMAND_START)
  if (!before || !after || sent.length === 0) throw new ProtocolError('bad push command')
  if (sent.length > MAX_SENT_NAME) throw new ProtocolError('a ref name is too long')
  const ends = { sent, before: present(before), after: present(after) }
  const name = sent.toString('utf8')
  const refused = (problem: string): PushCommand => ({ ...ends, ref: null, problem })
  if (named.has(name)) return refused('named twice in one push')
  named.add(name)
  // Decoding replaces what is not UTF-8, so such a name does not come back the same.
  if (!Buffer.from(name).equals(sent)) return refused('the name is not UTF-8')
  const ref = parseRefName(name)
  if (!ref) return refused('bad ref name')
  if (!ends.before && !ends.after) return refused('nothing to create or delete')
  return { ...ends, ref, problem: null }
}

const present = (oid: string): Oid | null => (oid === ZERO_OID ? null : (oid as Oid))

function readCapabilities(words: readonly string[]): PushCapabilities {
  const format = words.find((word) => word.startsWith('object-format='))
  if (format && format !== 'object-format=sha1') throw new ProtocolError('only SHA-1 repositories are served')
  return {
    reportStatus: words.includes('report-status') || words.includes('report-status-v2'),
    sideband: words.includes('side-band-64k'),
    quiet: words.includes('quiet'),
    atomic: words.includes('atomic'),
  }
}

async function readOptions(reader: PacketReader): Promise<string[]> {
  const options: string[] = []
  for await (const packet of untilFlush(reader)) {
    if (options.length === MAX_OPTIONS) throw new ProtocolError('too many push options')
    if (packet.length > MAX_OPTION_BYTES) throw new ProtocolError('a push option is too long')
    options.push(packetText(packet))
  }
  return options
}
