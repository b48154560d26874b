import type { CommitSummary } from '@trellis/contract'
import type { ListedCommit } from '../git/objects/history.ts'

const MAX_SUMMARY = 256

/** A commit in one line. */
export function summarize({ oid, message, author, committer }: ListedCommit): CommitSummary {
  const [first = ''] = message.trimStart().split('\n', 1)
  return {
    oid,
    summary: first.slice(0, MAX_SUMMARY).toWellFormed().trimEnd(),
    author: { name: author.name, email: author.email },
    time: committer.time,
  }
}
