// What a client is told about refs and capabilities, made from a list of refs without starting git.
// It says what `git upload-pack` and `git receive-pack` themselves would say, so either side may take over.

import { type Oid, type RefName, ZERO_OID } from '../names.ts'
import { lengthDigits } from './pkt-line.ts'
import { compareNames, type RefBlock, type RefRange, type SortedRefs } from './sorted-refs.ts'

/** `peeled` is what an annotated tag finally points to, null for everything else. */
export interface Ref {
  name: RefName
  oid: Oid
  peeled: Oid | null
}

/** All refs of a repository that a client may see. */
export interface RefList {
  /** The branch that HEAD names, whether or not it exists. */
  headBranch: RefName
  /** Where that branch is; null while it does not exist. */
  headOid: Oid | null
  refs: SortedRefs
}

export type Service = 'git-upload-pack' | 'git-receive-pack'
export type ProtocolVersion = 0 | 1 | 2

const AGENT = 'agent=trellis'
const UPLOAD_CAPABILITIES =
  'multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since deepen-not deepen-relative ' +
  'no-progress include-tag multi_ack_detailed allow-tip-sha1-in-want allow-reachable-sha1-in-want no-done'
const RECEIVE_CAPABILITIES =
  'report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options object-format=sha1'
const V2_CAPABILITIES = [
  'version 2',
  AGENT,
  'ls-refs=unborn',
  'fetch=shallow wait-for-done filter',
  'server-option',
  'object-format=sha1',
  'object-info',
]
const V2_ADVERTISEMENT = Buffer.from(`${V2_CAPABILITIES.map((line) => frame(`${line}\n`)).join('')}0000`)

/** The value of a Git-Protocol header: colon-separated, the highest known version wins. */
export function parseProtocolVersion(header: string | undefined): ProtocolVersion {
  const asked = (header ?? '').split(':')
  if (asked.includes('version=2')) return 2
  return asked.includes('version=1') ? 1 : 0
}

/** The body of `GET info/refs?service=…`. Version 2 lists no refs, so `list` is only called for the others. */
export async function advertise(
  service: Service,
  version: ProtocolVersion,
  list: () => RefList | Promise<RefList>,
): Promise<Iterable<Buffer>> {
  if (version === 2 && service === 'git-upload-pack') return [V2_ADVERTISEMENT]
  // Pushing has no version 2; git then answers as version 0.
  const versionLine = version === 1 ? frame('version 1\n') : ''
  const preface = `${frame(`# service=${service}\n`)}0000${versionLine}`
  return gatherPackets(preface, refLines(service, await list()))
}

export interface LsRefsOptions {
  peel: boolean
  symrefs: boolean
  unborn: boolean
  prefixes: readonly string[]
}

/** The answer to the command ls-refs of protocol version 2. */
export function answerLsRefs(list: RefList, options: LsRefsOptions): Iterable<Buffer> {
  return gatherPackets('', lsRefsLines(list, options))
}

/** Gives packets, one or many at a time. */
function* refLines(service: Service, list: RefList): Generator<string> {
  const kind = service === 'git-upload-pack' ? 'with peeled beside' : 'plain'
  let capabilities =
    service === 'git-upload-pack'
      ? `\0${UPLOAD_CAPABILITIES}${list.headOid ? ` symref=HEAD:${list.headBranch}` : ''} filter object-format=sha1 ${AGENT}`
      : `\0${RECEIVE_CAPABILITIES} ${AGENT}`
  const line = (oid: Oid, name: string) => {
    const text = frame(`${oid} ${name}${capabilities}\n`)
    capabilities = ''
    return text
  }
  if (service === 'git-upload-pack' && list.headOid) yield line(list.headOid, 'HEAD')
  for (const block of list.refs.blocks) {
    const [first] = block
    if (!capabilities || !first) yield* packetsOf(whole(block), kind)
    else {
      // The first line says what the server can do.
      yield line(first.oid, first.name)
      const [, ...peeled] = linesOf(first, kind)
      for (const text of peeled) yield frame(text)
      yield* packetsOf({ block, from: 1, to: block.length }, kind)
    }
  }
  if (capabilities && service === 'git-receive-pack') yield line(ZERO_OID, 'capabilities^{}')
}

function* lsRefsLines(list: RefList, options: LsRefsOptions): Generator<string> {
  const { peel, symrefs, unborn, prefixes } = options
  if (prefixes.length === 0 || prefixes.some((prefix) => 'HEAD'.startsWith(prefix))) {
    const target = symrefs ? ` symref-target:${list.headBranch}` : ''
    if (list.headOid) yield frame(`${list.headOid} HEAD${target}\n`)
    else if (unborn && symrefs) yield frame(`unborn HEAD${target}\n`)
  }
  const kind = peel ? 'with peeled inside' : 'plain'
  const ranges = prefixes.length === 0 ? list.refs.blocks.map(whole) : refsBelow(list.refs, prefixes)
  for (const range of ranges) yield* packetsOf(range, kind)
}

/** Found, not sought among all: most ask for one branch, and a hostile client for as many as there are refs. */
function* refsBelow(refs: SortedRefs, prefixes: readonly string[]): Generator<RefRange> {
  let last: string | undefined
  for (const prefix of prefixes.toSorted(compareNames)) {
    // What begins with the one before has been listed.
    if (last !== undefined && prefix.startsWith(last)) continue
    last = prefix
    yield* refs.below(prefix)
  }
}

/** What a line says of an annotated tag: nothing, what it points to, or that in a line of its own. */
type Kind = 'plain' | 'with peeled inside' | 'with peeled beside'

function linesOf({ name, oid, peeled }: Ref, kind: Kind): string[] {
  if (!peeled || kind === 'plain') return [`${oid} ${name}\n`]
  return kind === 'with peeled inside'
    ? [`${oid} ${name} peeled:${peeled}\n`]
    : [`${oid} ${name}\n`, `${peeled} ${name}^{}\n`]
}

const whole = (block: RefBlock): RefRange => ({ block, from: 0, to: block.length })

/** What is sent of a block, and where in it each ref starts, and the last one ends. */
interface BlockText {
  text: string
  starts: Uint32Array
}

/** By what their lines say of tags. */
const sent: Record<Kind, WeakMap<RefBlock, BlockText>> = {
  plain: new WeakMap(),
  'with peeled inside': new WeakMap(),
  'with peeled beside': new WeakMap(),
}
/** What is longer for the names in it is put together each time. */
const KEPT_LENGTH = 32 * 1024

function* packetsOf({ block, from, to }: RefRange, kind: Kind): Generator<string> {
  let known = sent[kind].get(block)
  if (!known) {
    const packets = block.map((ref) => linesOf(ref, kind).map(frame).join(''))
    const starts = new Uint32Array(packets.length + 1)
    for (const [i, packet] of packets.entries()) starts[i + 1] = (starts[i] as number) + packet.length
    if ((starts[packets.length] as number) > KEPT_LENGTH) return yield* packets.slice(from, to)
    known = { text: packets.join(''), starts }
    sent[kind].set(block, known)
  }
  yield known.text.slice(known.starts[from], known.starts[to])
}

const CHUNK_LENGTH = 32 * 1024

/** Puts packets together, many to a chunk, with a flush at the end. */
function* gatherPackets(preface: string, packets: Iterable<string>): Generator<Buffer, void, undefined> {
  let text = preface
  for (const packet of packets) {
    text += packet
    if (text.length < CHUNK_LENGTH) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(`${text}0000`)
}

function frame(line: string): string {
  return lengthDigits(4 + Buffer.byteLength(line)) + line
}
