// Patch text of each changed file, read from one stream and kept only as far as the bounds go.

import type { Readable } from 'node:stream'
import type { Oid, TreePath } from '../names.ts'
import type { OpenRepo } from '../process/command.ts'

/** Beyond this size files are taken as binary, so that nobody can make the server compare gigabytes by line. */
export const diffConfig = { 'core.bigFileThreshold': '8m', 'diff.renameLimit': '1000' }

interface PatchRequest {
  /** For each file, in order, how many `diff --git` sections git prints. */
  sections: readonly number[]
  maxPatchBytes: number
  maxTotalBytes: number
  /** Only these, and what is below them. */
  paths?: readonly TreePath[]
  /** Default true. */
  renames?: boolean
  /** Lines around a change that are shown, too. Default 3. */
  context?: number
  ignoreWhitespace?: boolean
}

// What may be read beyond the bound to reach small patches behind large ones.
const READ_FACTOR = 16

/** One text per file, undefined for those beyond a bound. */
export async function readPatches(
  repo: OpenRepo,
  from: Oid,
  to: Oid,
  { sections, maxPatchBytes, maxTotalBytes, paths, ...show }: PatchRequest,
): Promise<(string | undefined)[]> {
  // Without -z, so that git quotes odd names and no name can look like the start of a section.
  await using process = await repo.start({
    verb: 'diff-tree',
    options: [
      '-r',
      '-p',
      `--unified=${show.context ?? 3}`,
      (show.renames ?? true) ? '--find-renames' : '--no-renames',
      show.ignoreWhitespace && '--ignore-all-space',
      '--no-ext-diff',
      '--no-textconv',
      '--no-color',
    ],
    values: [from, to],
    ...(paths && { paths }),
    config: diffConfig,
  })
  const patches: (string | undefined)[] = []
  let kept = 0
  let pending: (Buffer | undefined)[] = []
  for await (const section of readSections(process.stdout, maxPatchBytes, maxTotalBytes * READ_FACTOR)) {
    pending.push(section)
    if (pending.length < (sections[patches.length] ?? 1)) continue
    const whole = pending.every((part) => part !== undefined) ? Buffer.concat(pending) : undefined
    pending = []
    const fits = whole && whole.length <= maxPatchBytes && kept + whole.length <= maxTotalBytes
    if (fits) kept += whole.length
    patches.push(fits ? whole.toString('utf8') : undefined)
    if (patches.length === sections.length) return patches
  }
  if (process.stdout.readableEnded) await process.done
  return patches
}

const SECTION_MARK = Buffer.from('\ndiff --git ')

/**
 * Splits at lines that start with `diff --git`; lines of content start with a space, a sign or a backslash.
 * Gives undefined for a section that is too long, and ends early once too much has been read.
 */
async function* readSections(
  stream: Readable,
  maxSection: number,
  maxRead: number,
): AsyncGenerator<Buffer | undefined> {
  let section: Buffer = Buffer.alloc(0)
  let tooLong = false
  let read = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    read += chunk.length
    section = Buffer.concat([section, chunk])
    for (let at = section.indexOf(SECTION_MARK); at >= 0; at = section.indexOf(SECTION_MARK)) {
      yield tooLong || at + 1 > maxSection ? undefined : section.subarray(0, at + 1)
      section = section.subarray(at + 1)
      tooLong = false
    }
    if (section.length > maxSection + SECTION_MARK.length) {
      tooLong = true
      // Enough to recognise a mark that began in this chunk.
      section = section.subarray(-SECTION_MARK.length)
    }
    if (read > maxRead) return
  }
  if (section.length > 0) yield tooLong ? undefined : section
}
