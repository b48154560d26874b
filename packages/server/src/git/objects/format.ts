// The bytes of git objects, both ways: lenient in reading what history holds, strict in what is written.

import { createHash, hash } from 'node:crypto'
import { ownText } from '../../platform/own-text.ts'
import { createPauses } from '../../platform/pauses.ts'
import { slicesOf } from '../../platform/slices.ts'
import { type Oid, parseOid, ZERO_OID } from '../names.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

/** Who and when. Time is Unix milliseconds (git keeps whole seconds), the timezone like +0200. */
export interface GitPerson {
  name: string
  email: string
  time: number
  timezone: string
}

export interface Commit {
  tree: Oid
  parents: Oid[]
  author: GitPerson
  committer: GitPerson
  message: string
  /** A signature is present; whether it is good is not known here. */
  signed: boolean
}

export interface TreeEntry {
  /** Six octal digits, such as 100644 or 040000. */
  mode: string
  /** 'commit' is a submodule. */
  type: 'blob' | 'tree' | 'commit'
  oid: Oid
  name: string
  /** The exact bytes of the name, when they are not UTF-8 and `name` is only an approximation. */
  rawName?: Buffer
}

/** The id that git gives an object of this content. */
export function oidOf(type: ObjectType, content: Uint8Array): Oid {
  if (content.length > IN_ONE_PIECE) return startOid(type, content).update(content).digest('hex') as Oid
  const start = startOf(type, content)
  const whole = Buffer.allocUnsafe(start.length + content.length)
  whole.write(start, 'latin1')
  whole.set(content, start.length)
  return hash('sha1', whole) as Oid
}

/** To copy so much takes less than to set up what takes it in two. */
const IN_ONE_PIECE = 4096

/** The same for what may be large: others get their turn in between. */
export async function oidOfLarge(type: ObjectType, content: Uint8Array): Promise<Oid> {
  const hashing = startOid(type, content)
  const pause = createPauses()
  for (const slice of slicesOf(content)) {
    await pause()
    hashing.update(slice)
  }
  return hashing.digest('hex') as Oid
}

const startOf = (type: ObjectType, { length }: Uint8Array) => `${type} ${length}\0`
const startOid = (type: ObjectType, content: Uint8Array) => createHash('sha1').update(startOf(type, content))

export function parseCommit(bytes: Buffer): Commit {
  const { headers, body } = splitHeaders(bytes)
  const first = (name: string) => headers.find(([key]) => key === name)?.[1]
  const text = decoder(first('encoding')?.toString('latin1'))
  const person = (name: string) => parsePerson(text(first(name) ?? Buffer.alloc(0)))
  return {
    tree: oidIn(first('tree')) ?? ZERO_OID,
    parents: headers.flatMap(([key, value]) => (key === 'parent' && oidIn(value)) || []),
    author: person('author'),
    committer: person('committer'),
    message: text(body),
    signed: headers.some(([key]) => key.startsWith('gpgsig')),
  }
}

const oidIn = (value: Buffer | undefined) => parseOid(value?.toString('latin1') ?? '')

/** What an annotated tag points to. */
export function parseTagTarget(bytes: Buffer): { oid: Oid; type: ObjectType } | undefined {
  const { headers } = splitHeaders(bytes)
  const field = (name: string) => headers.find(([key]) => key === name)?.[1].toString('latin1') ?? ''
  const oid = parseOid(field('object'))
  return oid && { oid, type: field('type') as ObjectType }
}

const ENTRIES_A_STEP = 256
const OID_BYTES = 20

/** A directory may have hundreds of thousands of entries: others get their turn in between. */
export async function parseTree(bytes: Buffer): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = []
  const pause = createPauses()
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const nul = bytes.indexOf(0, space)
    if (space < 0 || nul < 0 || nul + 20 >= bytes.length) throw new Error('malformed tree object')
    const raw = bytes.subarray(space + 1, nul)
    const mode = canonicalMode(bytes.toString('latin1', at, space))
    const oid = bytes.toString('hex', nul + 1, nul + 21) as Oid
    entries.push({ mode, type: typeOfMode(mode), oid, ...named(raw) })
    at = nul + 21
    if (entries.length % ENTRIES_A_STEP === 0) await pause()
  }
  return entries
}

const USUAL_MODES: Record<string, string> = {
  '100644': '100644',
  '100755': '100755',
  '120000': '120000',
  '160000': '160000',
  '40000': '040000',
}

/** As git reads what old tools have written. */
function canonicalMode(written: string): string {
  const usual = USUAL_MODES[written]
  if (usual) return usual
  const bits = Number.parseInt(written, 8)
  const kind = bits & 0o170000
  if (kind === 0o100000) return bits & 0o100 ? '100755' : '100644'
  if (kind === 0o120000) return '120000'
  return kind === 0o040000 ? '040000' : '160000'
}

/** Text for a name, and its bytes where the text would not give them back. */
function named(raw: Buffer): { name: string; rawName?: Buffer } {
  const name = raw.toString('utf8')
  return raw.equals(Buffer.from(name)) ? { name } : { name, rawName: Buffer.from(raw) }
}

/** The exact bytes of an entry's name. */
export const nameBytes = (entry: { name: string; rawName?: Buffer }) =>
  entry.rawName ?? Buffer.from(entry.name)

const isAscii = (text: string) => !/[^\0-\x7f]/.test(text)

/** In git's order, whatever theirs is. Like `parseTree`, it lets others in between. */
export async function formatTree(entries: readonly TreeEntry[]): Promise<Buffer> {
  const pause = createPauses()
  const lines: { key: string; head: string; oid: Oid }[] = []
  let size = 0
  for (const entry of entries) {
    if (lines.length % ENTRIES_A_STEP === 0) await pause()
    // A letter for each byte, so that they compare as the bytes do.
    const name = isAscii(entry.name) && !entry.rawName ? entry.name : nameBytes(entry).toString('latin1')
    const head = `${entry.mode.replace(/^0+/, '')} ${name}\0`
    // Git sorts a directory as if its name ended with a slash.
    lines.push({ key: entry.type === 'tree' ? `${name}/` : name, head, oid: entry.oid })
    size += head.length + OID_BYTES
  }
  lines.sort((a, b) => (a.key < b.key ? -1 : 1))
  const tree = Buffer.allocUnsafe(size)
  let at = 0
  for (const [i, { head, oid }] of lines.entries()) {
    if (i % ENTRIES_A_STEP === 0) await pause()
    at += tree.write(head, at, 'latin1')
    at += tree.write(oid, at, 'hex')
  }
  return tree
}

/** Cleans the message as git would. */
export function formatCommit(commit: Omit<Commit, 'signed'>): Buffer {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${formatPerson(commit.author)}`,
    `committer ${formatPerson(commit.committer)}`,
  ]
  return Buffer.from(`${lines.join('\n')}\n\n${cleanMessage(commit.message)}`)
}

export interface Tag {
  name: string
  target: Oid
  targetType: ObjectType
  tagger: GitPerson
  message: string
}

export function formatTag(tag: Tag): Buffer {
  const head = `object ${tag.target}\ntype ${tag.targetType}\ntag ${tag.name}\ntagger ${formatPerson(tag.tagger)}`
  return Buffer.from(`${head}\n\n${cleanMessage(tag.message)}`)
}

/** What `git stripspace` does: no trailing blanks, no blank lines around the text or doubled inside it. */
export function cleanMessage(message: string): string {
  const lines = message.toWellFormed().replaceAll('\0', '').split('\n').map(withoutTrailingBlanks)
  const kept = lines.filter((line, i) => line !== '' || (i > 0 && lines[i - 1] !== ''))
  if (kept.at(-1) === '') kept.pop()
  return kept.map((line) => `${line}\n`).join('')
}

function splitHeaders(bytes: Buffer): { headers: [string, Buffer][]; body: Buffer } {
  const headers: [string, Buffer][] = []
  let at = 0
  while (at < bytes.length && bytes[at] !== 0x0a) {
    const newline = bytes.indexOf(0x0a, at)
    const end = newline < 0 ? bytes.length : newline
    const space = bytes.indexOf(0x20, at)
    // Lines that start with a space continue the header before; only long values we do not read have them.
    if (space > at && space < end)
      headers.push([bytes.toString('latin1', at, space), bytes.subarray(space + 1, end)])
    at = end + 1
  }
  return { headers, body: bytes.subarray(at + 1) }
}

function decoder(encoding: string | undefined): (bytes: Buffer) => string {
  try {
    const text = new TextDecoder(encoding || 'utf-8', { ignoreBOM: true })
    return (bytes) => text.decode(bytes)
  } catch {
    return (bytes) => bytes.toString('utf8')
  }
}

/** Of a name and of an address. Nobody has a longer one, and all of them are shown wherever a commit is. */
const MAX_PERSON = 1_000

function parsePerson(line: string): GitPerson {
  const short = (text: string) => ownText(text, MAX_PERSON)
  const open = line.indexOf('<')
  if (open < 0) return { name: short(line.trim()), email: '', time: 0, timezone: '+0000' }
  const closing = line.indexOf('>', open)
  const close = closing < 0 ? line.length : closing
  const [time = '', timezone = '+0000'] = line
    .slice(close + 1, close + 100)
    .trim()
    .split(/\s+/)
  return {
    name: short(line.slice(0, open).trim()),
    email: short(line.slice(open + 1, close)),
    time: (Number(time) || 0) * 1000,
    timezone: short(timezone),
  }
}

function formatPerson(person: GitPerson): string {
  const seconds = Math.min(Math.max(0, Math.floor(person.time / 1000)), 2 ** 40) || 0
  const timezone = /^[+-](0\d|1[0-4])[0-5]\d$/.test(person.timezone) ? person.timezone : '+0000'
  const email = withoutCrud(person.email)
  return `${withoutCrud(person.name) || email || 'unknown'} <${email}> ${seconds} ${timezone}`
}

/** Leaves out what would break the line, and the punctuation that git trims from both ends of a name. */
function withoutCrud(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is left out
  const oneLine = text.toWellFormed().replace(/[\x00-\x1f\x7f<>]/g, '')
  const isCrud = (at: number) => ' .,:;"\\\''.includes(oneLine.charAt(at))
  let start = 0
  let end = oneLine.length
  while (start < end && isCrud(start)) start++
  while (end > start && isCrud(end - 1)) end--
  return oneLine.slice(start, end)
}

// By hand, because a regular expression for the end of a text takes quadratic time on long blanks.
function withoutTrailingBlanks(line: string): string {
  let end = line.length
  while (end > 0 && ' \t\r'.includes(line.charAt(end - 1))) end--
  return line.slice(0, end)
}

function typeOfMode(mode: string): TreeEntry['type'] {
  if (mode.startsWith('04')) return 'tree'
  return mode.startsWith('16') ? 'commit' : 'blob'
}
