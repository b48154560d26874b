import type { RefName } from '../git/names.ts'
import { createRecent } from '../platform/recent.ts'
import type { RepoRow } from '../repos/service.ts'

/** What an answer depends on. */
interface Known {
  /** Of the refs. */
  version: number
  headBranch: RefName
}

interface Kept extends Known {
  answer: Buffer
  weight: number
}

const KEPT_ANSWERS = 50_000
const KEPT_BYTES = 32 * 1024 * 1024
/** Of what is longer most of the time goes into sending it. */
const LONGEST_QUESTION = 1024
const LONGEST_ANSWER = 16 * 1024
const ENTRY_BYTES = 400

/**
 * What clients were told who asked for refs. Most of them poll: they ask in the same words again, byte by byte, and mostly
 * nothing has moved.
 */
export function createRefAnswers() {
  const kept = createRecent<string, Kept>({
    maxEntries: KEPT_ANSWERS,
    weight: { of: ({ weight }) => weight, max: KEPT_BYTES },
  })
  const keyOf = ({ id }: RepoRow, question: Buffer) => id + question.toString('latin1')

  return {
    /** What was said to this question, if it would be said again. */
    find(repo: RepoRow, { version, headBranch }: Known, question: Buffer): Buffer | undefined {
      if (question.length > LONGEST_QUESTION) return undefined
      const known = kept.get(keyOf(repo, question))
      return known?.version === version && known.headBranch === headBranch ? known.answer : undefined
    },

    keep(repo: RepoRow, { version, headBranch }: Known, question: Buffer, answer: Buffer): void {
      if (question.length > LONGEST_QUESTION || answer.length > LONGEST_ANSWER) return
      const weight = ENTRY_BYTES + question.length + answer.length
      kept.set(keyOf(repo, question), { version, headBranch, answer, weight })
    },
  }
}
