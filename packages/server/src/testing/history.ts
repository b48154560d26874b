// For tests: histories as projects have them, made with one `git fast-import`.

import type { TestRepo } from './git-repo.ts'

interface Shape {
  commits: number
  files: number
  /** Every file has so many lines, of which each commit changes some. */
  lines?: number
}

/** A branch `main` on which files change a little at a time, with merges, tags and directories. */
export function makeHistory(t: TestRepo, { commits, files, lines = 40 }: Shape): void {
  const random = createRandom(commits + files)
  const contents = Array.from({ length: files }, (_, file) =>
    Array.from({ length: lines }, (_, line) => `line ${line} of ${file}: ${random(1e9)}`),
  )
  const stream: string[] = []
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  for (let i = 1; i <= commits; i++) {
    const changed = new Set(Array.from({ length: 1 + random(3) }, () => random(files)))
    const who = `Ann <ann@example.org> ${1_600_000_000 + i * 60} +0000`
    stream.push(`commit refs/heads/main\nmark :${i}\nauthor ${who}\ncommitter ${who}\n`)
    stream.push(data(`change ${i}\n\n${'why '.repeat(random(30))}\n`))
    if (i > 1) stream.push(`from :${i - 1}\n`)
    if (i > 20 && i % 10 === 0) stream.push(`merge :${i - 7}\n`)
    for (const file of changed) {
      const text = contents[file] ?? []
      text[random(text.length)] = `changed in ${i}: ${random(1e9)}`
      stream.push(
        `M 100644 inline dir-${file % 7}/sub-${file % 3}/file-${file}.txt\n`,
        data(`${text.join('\n')}\n`),
      )
    }
    stream.push('\n')
    if (i % 50 === 0) stream.push(`tag v${i}\nfrom :${i}\ntagger ${who}\n${data(`version ${i}`)}`)
  }
  t.git(['fast-import', '--quiet'], stream.join(''))
}

/** Numbers that are the same at every run. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
