// What a client is told about refs and capabilities, made from a list of refs without starting git.
// It says what `git upload-pack` and `git receive-pack` themselves would say, so either side may take over.

import { type Oid, type RefName, ZERO_OID } from '../names.ts'

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
  /** In the byte order of their names. */
  refs: Iterable<Ref>
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

function* refLines(service: Service, list: RefList): Generator<string> {
  let capabilities =
    service === 'git-upload-pack'
      ? `\0${UPLOAD_CAPABILITIES}${list.headOid ? ` symref=HEAD:${list.headBranch}` : ''} filter object-format=sha1 ${AGENT}`
      : `\0${RECEIVE_CAPABILITIES} ${AGENT}`
  const line = (oid: Oid, name: string) => {
    const text = `${oid} ${name}${capabilities}\n`
    capabilities = ''
    return text
  }
  if (service === 'git-receive-pack') {
    for (const ref of list.refs) yield line(ref.oid, ref.name)
    if (capabilities) yield line(ZERO_OID, 'capabilities^{}')
    return
  }
  if (list.headOid) yield line(list.headOid, 'HEAD')
  for (const ref of list.refs) {
    yield line(ref.oid, ref.name)
    if (ref.peeled) yield line(ref.peeled, `${ref.name}^{}`)
  }
}

function* lsRefsLines(list: RefList, options: LsRefsOptions): Generator<string> {
  const { peel, symrefs, unborn, prefixes } = options
  const wanted = prefixMatcher(prefixes)
  if (wanted('HEAD')) {
    const target = symrefs ? ` symref-target:${list.headBranch}` : ''
    if (list.headOid) yield `${list.headOid} HEAD${target}\n`
    else if (unborn && symrefs) yield `unborn HEAD${target}\n`
  }
  for (const ref of list.refs) {
    if (wanted(ref.name)) yield `${ref.oid} ${ref.name}${peel && ref.peeled ? ` peeled:${ref.peeled}` : ''}\n`
  }
}

/** A binary search, because a hostile client may send as many prefixes as there are refs. */
function prefixMatcher(prefixes: readonly string[]): (name: string) => boolean {
  if (prefixes.length === 0) return () => true
  const shortest: string[] = []
  for (const prefix of prefixes.toSorted()) {
    const last = shortest.at(-1)
    if (last === undefined || !prefix.startsWith(last)) shortest.push(prefix)
  }
  // None is a prefix of another, so only the last one that is not after the name can match it.
  return (name) => {
    let low = 0
    let high = shortest.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((shortest[middle] as string) <= name) low = middle + 1
      else high = middle
    }
    return low > 0 && name.startsWith(shortest[low - 1] as string)
  }
}

const CHUNK_LENGTH = 32 * 1024

/** Frames lines as packets, many to a chunk, with a flush at the end. */
function* gatherPackets(preface: string, lines: Iterable<string>): Generator<Buffer, void, undefined> {
  let text = preface
  for (const line of lines) {
    text += frame(line)
    if (text.length < CHUNK_LENGTH) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(`${text}0000`)
}

function frame(line: string): string {
  return (4 + Buffer.byteLength(line)).toString(16).padStart(4, '0') + line
}
