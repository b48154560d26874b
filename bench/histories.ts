interface History {
  count: number
  /** Which file a commit changes. */
  pathOf(random: () => number): string
  /** How many tags and branches lead into it besides `main`. */
  marks: number
}

/** A history that is the same in every run, in the words of `git fast-import`. */
export function* commits({ count, pathOf, marks }: History): Generator<string> {
  const random = numbers(1)
  const files = new Map<string, string[]>()
  for (let i = 0; i < count; i++) {
    const path = pathOf(random)
    // A file is a few hundred lines, of which each commit changes one: what source code looks like to git.
    const lines = files.get(path) ?? Array.from({ length: 40 + (random() % 200) }, () => sentence(random))
    lines[random() % lines.length] = sentence(random)
    files.set(path, lines)
    const text = `${lines.join('\n')}\n`
    const message = `Change ${path}, ${i}`
    yield `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + i * 60} +0000\n`
    yield `data ${message.length}\n${message}\nM 100644 inline ${path}\ndata ${text.length}\n${text}\n`
    if (i % (count / marks) === 0)
      yield `reset refs/tags/v${i}\nfrom refs/heads/main\n\nreset refs/heads/topic-${i}\nfrom refs/heads/main\n\n`
  }
}

const WORDS =
  'the of packs refs and objects in a tree with commits that branch is not for this one more'.split(' ')

const sentence = (random: () => number): string =>
  Array.from({ length: 6 }, () => `${WORDS[random() % WORDS.length]}${random() % 100}`).join(' ')

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 8
  }
}
