// Refs as files, for git commands only: all of them in `packed-refs`, and over it those that have moved since, each in a
// file of its own, so that a command costs what has changed and not what there is.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createPauses } from '../../platform/pauses.ts'
import type { RefName } from '../names.ts'
import type { Ref } from '../protocol/advertisement.ts'
import type { MovedRef } from '../protocol/sorted-refs.ts'

export interface RefSnapshot {
  headBranch: RefName
  /** Equal versions mean equal refs, so nothing is written again. */
  version: string
  /** In the byte order of their names. */
  refs: () => Iterable<Ref>
  /** What has moved since another version, where that is known. */
  movedSince?: (version: string) => readonly MovedRef[] | undefined
}

/** What is in a directory now. */
export interface WrittenRefs {
  headBranch: RefName
  version: string
  /** How many have a file of their own, at most. */
  loose: number
}

/** git opens each of them where it goes through all. */
const MOST_LOOSE = 50
/** So many are written before a look at the clock. */
const LINES_A_LOOK = 500

/** Writes what is not there yet. Those who read meanwhile find each ref as it was, or as it is. */
export async function writeRefFiles(
  dir: string,
  written: WrittenRefs | undefined,
  { headBranch, version, refs, movedSince }: RefSnapshot,
): Promise<WrittenRefs> {
  let loose = written?.loose ?? 0
  if (written?.version !== version) {
    const moved = written && movedSince?.(written.version)
    if (moved && loose + moved.length <= MOST_LOOSE && (await writeLoose(dir, moved))) loose += moved.length
    else {
      await putFile(join(dir, 'packed-refs'), await packedRefs(refs()), dir)
      // git looks there first. Without a word of what was written, something may have been.
      if (loose > 0 || moved || !written) await removeLoose(dir)
      loose = 0
    }
  }
  if (written?.headBranch !== headBranch) await replaceFile(join(dir, 'HEAD'), `ref: ${headBranch}\n`)
  return { headBranch, version, loose }
}

/** False when these cannot be written so: one that is packed cannot be taken away, and not every name is a file's. */
async function writeLoose(dir: string, moved: readonly MovedRef[]): Promise<boolean> {
  for (const { ref } of moved) {
    if (!ref) return false
    const path = join(dir, ref.name)
    try {
      await mkdir(dirname(path), { recursive: true })
      await putFile(path, `${ref.oid}\n`, dir)
    } catch (error) {
      if (NO_FILE.has(String((error as NodeJS.ErrnoException).code))) return false
      throw error
    }
  }
  return true
}

/** A folder is in its place, or it is too long. */
const NO_FILE = new Set(['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'ENAMETOOLONG'])

async function removeLoose(dir: string): Promise<void> {
  const folder = join(dir, 'refs')
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
}

async function packedRefs(refs: Iterable<Ref>): Promise<string> {
  const lines = ['# pack-refs with: peeled fully-peeled sorted \n']
  const pause = createPauses()
  for (const { name, oid, peeled } of refs) {
    lines.push(`${oid} ${name}\n${peeled ? `^${peeled}\n` : ''}`)
    if (lines.length % LINES_A_LOOK === 0) await pause()
  }
  return lines.join('')
}

export async function replaceFile(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === content) return
  await putFile(path, content, dirname(path))
}

/** Whole or not at all. What is unfinished lies in `beside`. */
async function putFile(path: string, content: string, beside: string): Promise<void> {
  const unfinished = join(beside, `${randomBytes(6).toString('hex')}.tmp`)
  try {
    await writeFile(unfinished, content)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
