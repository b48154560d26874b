import type { Commit } from '@trellis/contract'

type HistoryRow = { kind: 'day'; day: string } | { kind: 'commit'; commit: Commit }

const inWords = new Intl.DateTimeFormat('en', { dateStyle: 'full' })

/** Commits below the days they were made on. A day comes once: clocks that go wrong must not split it. */
export function byDay(commits: readonly Commit[]): HistoryRow[] {
  const days = new Map<string, Commit[]>()
  for (const commit of commits) {
    const day = inWords.format(commit.committer.time)
    const same = days.get(day)
    if (same) same.push(commit)
    else days.set(day, [commit])
  }
  return [...days].flatMap(([day, of]): HistoryRow[] => [
    { kind: 'day', day },
    ...of.map((commit) => ({ kind: 'commit' as const, commit })),
  ])
}
