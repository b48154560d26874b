import type { CommitSummary } from '@trellis/contract'
import type { Oid } from '../git/names.ts'
import type { ListedCommit } from '../git/objects/history.ts'
import type { ObjectReader } from '../git/objects/reader.ts'
import { ownText } from '../platform/own-text.ts'

const MAX_SUMMARY = 256
/** Each may have a mebibyte, of which one line is shown. */
const READ_AT_ONCE = 16

/** A commit in one line. */
export function summarize({ oid, message, author, committer }: ListedCommit): CommitSummary {
  const [first = ''] = message.trimStart().split('\n', 1)
  return {
    oid,
    summary: ownText(first, MAX_SUMMARY).trimEnd(),
    author: { name: author.name, email: author.email },
    time: committer.time,
  }
}

/** In their order, a few at a time. What is not there is left out. */
export async function summarizeAll(
  objects: Pick<ObjectReader, 'findCommit'>,
  oids: readonly Oid[],
): Promise<CommitSummary[]> {
  const summaries: CommitSummary[] = []
  for (let at = 0; at < oids.length; at += READ_AT_ONCE) {
    const some = oids.slice(at, at + READ_AT_ONCE).map(async (oid) => {
      const commit = await objects.findCommit(oid)
      return commit ? [summarize({ oid, ...commit })] : []
    })
    summaries.push(...(await Promise.all(some)).flat())
  }
  return summaries
}
