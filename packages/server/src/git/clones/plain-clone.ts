// A clone that asks for nothing special, as most do. upload-pack would only start pack-objects and hand on what it
// writes, in pieces of 8 KiB that cost a server more than their bytes; here pack-objects writes into a file itself.

import type { Oid } from '../names.ts'
import type { Repo } from '../process/command.ts'
import { progressOnly } from '../process/progress.ts'

export type PlainClone = {
  wants: readonly Oid[]
  thin: boolean
  ofsDelta: boolean
  includeTag: boolean
  progress: boolean
}

/** What a fetch in version 2 asks for in these lines, if that is all it asks for. */
export function plainCloneOf(lines: readonly string[]): PlainClone | undefined {
  const wants = lines.flatMap((line) => /^want (.*)/.exec(line)?.[1] ?? []) as Oid[]
  const isPlain = lines.every((line) => unremarkable.test(line)) && lines.includes('done')
  if (!isPlain || wants.length === 0) return undefined
  return {
    wants,
    thin: lines.includes('thin-pack'),
    ofsDelta: lines.includes('ofs-delta'),
    includeTag: lines.includes('include-tag'),
    progress: !lines.includes('no-progress'),
  }
}

const unremarkable =
  /^(command=fetch|(agent|session-id|server-option)=.*|object-format=sha1|want [0-9a-f]{40}|thin-pack|ofs-delta|include-tag|no-progress|done)$/

export type Destination = {
  /** Of a file, which gets the pack. */
  fd: number
  /** Takes what a person who waits may read. */
  tell(text: Buffer): void
}

/** Writes the pack. All that is wanted must exist. */
export async function writePlainClone(
  repo: Repo,
  { wants, thin, ofsDelta, includeTag, progress }: PlainClone,
  { fd, tell }: Destination,
): Promise<void> {
  await repo.run({
    verb: 'pack-objects',
    options: [
      '--revs',
      '--stdout',
      thin && '--thin',
      ofsDelta && '--delta-base-offset',
      includeTag && '--include-tag',
      progress ? '--progress' : '-q',
    ],
    stdin: `${wants.join('\n')}\n`,
    into: fd,
    onStderr: progressOnly(tell),
  })
}
