import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { Remote } from './git-stage.ts'
import { postBytes } from './load.ts'

type Kind = 'commit' | 'tree' | 'blob'

const TYPES: Record<Kind, number> = { commit: 1, tree: 2, blob: 3 }

const idOf = (kind: Kind, content: Buffer): string =>
  createHash('sha1').update(`${kind} ${content.length}\0`).update(content).digest('hex')

/** A line of git's protocol. */
export function packet(line: string): string {
  return (line.length + 4).toString(16).padStart(4, '0') + line
}

/** The request that makes a branch of a commit with one file, without git: what an agent sends that begins something. */
export function pushOfOneFile({ path, headers }: Remote, branch: string): Buffer {
  const { tip, pack } = packOfOneFile('notes.txt', `${branch} ${Math.random()}\n`)
  const command = packet(`${'0'.repeat(40)} ${tip} refs/heads/${branch}\0report-status object-format=sha1`)
  const all = { ...headers, 'content-type': 'application/x-git-receive-pack-request' }
  return postBytes(`${path}/git-receive-pack`, all, Buffer.concat([Buffer.from(`${command}0000`), pack]))
}

/** The pack of a commit with one file and no parent. */
export function packOfOneFile(path: string, text: string): { tip: string; pack: Buffer } {
  const blob = Buffer.from(text)
  const tree = Buffer.concat([Buffer.from(`100644 ${path}\0`), Buffer.from(idOf('blob', blob), 'hex')])
  const by = 'Agent <agent@example.com> 1700000000 +0000'
  const commit = Buffer.from(`tree ${idOf('tree', tree)}\nauthor ${by}\ncommitter ${by}\n\nAdd ${path}\n`)
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\u0003', 'latin1')
  const body = Buffer.concat([head, entry('commit', commit), entry('tree', tree), entry('blob', blob)])
  return {
    tip: idOf('commit', commit),
    pack: Buffer.concat([body, createHash('sha1').update(body).digest()]),
  }
}

function entry(kind: Kind, content: Buffer): Buffer {
  const head = [(TYPES[kind] << 4) | (content.length & 0x0f)]
  for (let rest = content.length >> 4; rest > 0; rest >>= 7) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80
    head.push(rest & 0x7f)
  }
  return Buffer.concat([Buffer.from(head), deflateSync(content)])
}
