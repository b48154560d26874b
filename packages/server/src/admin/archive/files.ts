// Files that are on disk when they are said to be, with what they must read as later.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Unfit } from '../command.ts'
import type { Digest } from './manifest.ts'

const CHUNK_BYTES = 1024 * 1024

type Lines = AsyncIterable<string> | Iterable<string>

/** Writes lines into a new file. */
export async function writeLines(path: string, lines: Lines): Promise<Digest & { lines: number }> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let bytes = 0
  let count = 0
  let held: string[] = []
  const flush = async () => {
    const chunk = Buffer.from(held.join(''))
    held = []
    hash.update(chunk)
    bytes += chunk.length
    await file.writeFile(chunk)
  }
  try {
    for await (const line of lines) {
      held.push(`${line}\n`)
      count++
      if (held.length === 1_000) await flush()
    }
    await flush()
    await file.sync()
  } finally {
    await file.close()
  }
  return { bytes, sha256: hash.digest('hex'), lines: count }
}

/** The lines of a file. Throws `Unfit`, after the last, when it is not what it was. */
export async function* readLines(path: string, expected: Digest): AsyncGenerator<string> {
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES })
  const hash = createHash('sha256')
  stream.on('data', (chunk) => hash.update(chunk))
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) yield line
  requireSame(path, hash.digest('hex'), expected)
}

/** Copies into a new file. */
export async function copyWhole(source: string, target: string, mode = 0o600): Promise<Digest> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const to = await open(target, 'wx', mode)
  try {
    const digest = await readWhole(source, (chunk) => to.writeFile(chunk))
    await to.sync()
    return digest
  } finally {
    await to.close()
  }
}

/** Throws `Unfit` when a file is not what it was. */
export async function requireWhole(path: string, expected: Digest): Promise<void> {
  requireSame(path, (await readWhole(path)).sha256, expected)
}

export function requireSame(path: string, sha256: string, expected: Digest): void {
  if (sha256 !== expected.sha256) throw new Unfit(`${path} is damaged: it does not read as it was written`)
}

async function readWhole(
  path: string,
  onChunk: (chunk: Buffer) => Promise<void> = async () => {},
): Promise<Digest> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    hash.update(chunk)
    bytes += chunk.length
    await onChunk(chunk)
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** What was made or renamed in a directory is there after a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
