// A clone that asks for nothing special, as most do. upload-pack would only start pack-objects and hand on what it
// writes, in chunks of 8 KiB that cost a server more than their bytes; here pack-objects writes into a file itself.

import type { OpenRepo } from '../process/command.ts'
import { progressOnly } from '../process/progress.ts'
import type { PlainClone } from '../protocol/upload-request.ts'

/** Where a pack goes, and what is said while it is made. */
export interface Destination {
  /** Of a file, which gets the pack. */
  fd: number
  /** Takes what a person who waits may read. */
  tell(text: Buffer): void
}

/** Writes the pack. All that is wanted must exist. */
export async function writePlainClone(
  repo: OpenRepo,
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
