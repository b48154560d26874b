// Lines of the files of a commit in which a text stands, as git finds them.

import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { createPauses } from '../../platform/pauses.ts'
import type { Oid, TreePath } from '../names.ts'
import { GitOverLimit } from '../process/allowances.ts'
import type { OpenRepo } from '../process/command.ts'

export interface FoundLine {
  path: string
  line: number
  /** Of a long one, what is around the match. */
  text: string
  clipped: boolean
}

interface GrepQuery {
  commit: Oid
  /** One line of text, which stands for itself. */
  text: string
  caseSensitive: boolean
  /** Only in these files, or below these directories. Without any, in all. */
  paths: readonly TreePath[]
}

/** Of a line that is shown, and how much of it comes before the match. */
const SHOWN_BYTES = 500
const BEFORE_BYTES = 100
/** No path is longer. */
const MAX_FIELD_BYTES = 16 * 1024

/**
 * In the order of the paths, until `take` says no or git needs more than it may. Says whether all files were looked at.
 * Binary files are left out.
 */
export async function grepLines(
  repo: OpenRepo,
  { commit, text, caseSensitive, paths }: GrepQuery,
  take: (found: FoundLine) => boolean,
): Promise<boolean> {
  await using process = await repo.start({
    verb: 'grep',
    options: [
      '--fixed-strings',
      '-I',
      '--null',
      '--line-number',
      '--column',
      '--full-name',
      '--no-color',
      '--threads=1',
      !caseSensitive && '--ignore-case',
      '-f',
      '-',
    ],
    values: [commit],
    ...(paths.length > 0 && { paths }),
    stdin: text,
    accept: [0, 1],
    work: 'compare',
  })
  const pause = createPauses()
  try {
    for await (const found of readFound(process.stdout)) {
      if (!take(found)) return false
      await pause()
    }
    await process.done
    return true
  } catch (error) {
    if (error instanceof GitOverLimit) return false
    throw error
  }
}

/** `commit:path NUL line NUL column NUL text LF`, of which a text may be longer than one would want to hold. */
async function* readFound(stream: Readable): AsyncGenerator<FoundLine> {
  const fields: string[] = []
  let field: Buffer[] = []
  let bytes = 0
  let text = createWindow(0)

  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; ) {
      const isText = fields.length === 3
      const end = chunk.indexOf(isText ? 0x0a : 0, at)
      const part = chunk.subarray(at, end < 0 ? chunk.length : end)
      at = end < 0 ? chunk.length : end + 1
      if (isText) text.add(part)
      else {
        bytes += part.length
        if (bytes > MAX_FIELD_BYTES) throw new Error('git grep printed something else')
        field.push(part)
      }
      if (end < 0) continue
      if (!isText) {
        fields.push(Buffer.concat(field).toString('utf8'))
        field = []
        bytes = 0
        if (fields.length === 3) text = createWindow(Number(fields[2]) - 1)
        continue
      }
      const [place = '', line] = fields
      yield { path: place.slice(place.indexOf(':') + 1), line: Number(line), ...text.read() }
      fields.length = 0
    }
  }
}

/** Keeps what is around a place of a line that comes in parts. */
function createWindow(match: number) {
  const start = Math.max(0, match - BEFORE_BYTES)
  const kept: Buffer[] = []
  let at = 0
  return {
    add(part: Buffer): void {
      const [from, to] = [start - at, start + SHOWN_BYTES - at]
      // A copy: the chunk it is a part of may be large.
      if (to > 0 && from < part.length) kept.push(Buffer.from(part.subarray(Math.max(0, from), to)))
      at += part.length
    },
    read(): { text: string; clipped: boolean } {
      const bytes = Buffer.concat(kept)
      let first = 0
      while (start > 0 && ((bytes[first] ?? 0) & 0xc0) === 0x80) first++
      const text = new StringDecoder('utf8').write(bytes.subarray(first))
      return { text: text.replace(/\r$/, ''), clipped: start > 0 || at > start + SHOWN_BYTES }
    },
  }
}
