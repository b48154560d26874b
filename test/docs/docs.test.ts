// Everything that the documents tell people to type, typed: in the order of the pages, into one shell, against a server
// that has just been started for the first time.

import assert from 'node:assert/strict'
import { glob, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { useInSuite } from '@trellis/server/testing'
import { until } from '../git/harness.ts'
import { startServer } from '../server-process.ts'
import { type Block, blocksIn, isLater, ROOT, shownIn, withoutSpace } from './blocks.ts'
import { type Shell, startShell } from './shell.ts'

/** Pages that a reader follows one after the other: each begins with what those before it made. */
const SESSIONS = [
  [
    'README.md',
    'docs/access.md',
    'docs/writing.md',
    'docs/reading.md',
    'docs/invites.md',
    'docs/webhooks.md',
    'docs/extensions.md',
    'docs/runs.md',
    'docs/daemons.md',
    'docs/records.md',
    'examples/tracker/README.md',
    'examples/templates/README.md',
  ],
  ['docs/first-team.md', 'docs/agents.md', 'docs/operations.md'],
]

/** Pages whose every block says itself why it cannot be run here. */
const APART = ['CONTRIBUTING.md', 'packages/contract/README.md', 'examples/library/README.md']

/** All that is not run. Whoever adds to it has to have a reason that holds. */
const NOT_RUN: Record<string, string[]> = {
  'README.md': ['the server that everything else talks to is started with it', 'it runs this very page'],
  'CONTRIBUTING.md': ['they take long, and CI runs the first three'],
  'docs/operations.md': [
    'the server that everything else talks to is started with it',
    'it takes a container engine; test/operators/image.test.ts does without one what the Dockerfile does',
    'it takes root, and the unit with its user',
    'it is another server, which stays',
    'it takes root, and the unit with its user',
  ],
  'packages/contract/README.md': [
    'it is not published; test/contract-package.test.ts installs what npm pack makes',
  ],
  'examples/library/README.md': ['its tests run in a sandbox, which needs bubblewrap'],
  'examples/tracker/README.md': ['the check runs in a sandbox, which needs bubblewrap'],
}

describe('the documents', () => {
  it('are all looked at', async () => {
    const patterns = ['*.md', 'docs/**/*.md', 'packages/*/*.md', 'examples/**/*.md']
    const pages = (await Array.fromAsync(glob(patterns, { cwd: ROOT }))).filter(
      (page) => blocksIn(page).length > 0,
    )
    assert.deepEqual(pages.toSorted(), [...SESSIONS.flat(), ...APART].toSorted())
  })

  it('leave out only what is listed here', () => {
    const left: Record<string, string[]> = {}
    for (const page of [...SESSIONS.flat(), ...APART]) {
      const reasons = blocksIn(page).flatMap(({ notRun }) => notRun ?? [])
      if (reasons.length > 0) left[page] = reasons
    }
    assert.deepEqual(left, NOT_RUN)
    for (const page of APART)
      assert.ok(
        blocksIn(page).every(({ notRun }) => notRun),
        page,
      )
  })
})

for (const pages of SESSIONS)
  describe(`beginning with ${pages[0]}`, () => {
    const reader = useReader()
    for (const page of pages)
      it(`${page} can be followed`, async () => {
        await reader.turnTo()
        for (const block of blocksIn(page)) if (!block.notRun) await reader.follow(block)
      })
  })

/** The lines of a block, cut where a reader waits for something to show. */
function inParts(text: string): string[][] {
  const parts: string[][] = [[]]
  for (const line of text.split('\n')) {
    parts.at(-1)?.push(line)
    if (isLater(line)) parts.push([])
  }
  return parts.filter((part) => part.length > 0)
}

interface Reader {
  /** Begins a page. */
  turnTo(): Promise<void>
  /** Types a block, and looks whether all went well and showed what the page says it does. */
  follow(block: Block): Promise<void>
}

/** Somebody with a new server, and a shell in the directory it was started in. */
function useReader(): Reader {
  return useInSuite(async (made) => {
    const work = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-docs-'))).path
    const home = join(work, '.home')
    await mkdir(home)
    // What a reader sees at once, the shell has to be told: that an answer is an error.
    await writeFile(join(home, '.curlrc'), 'fail-with-body\nsilent\nshow-error\nmax-time = 60\n')
    await writeFile(
      join(home, '.gitconfig'),
      '[user]\n\tname = Ann\n\temail = ann@example.com\n[advice]\n\tdetachedHead = false\n',
    )
    const data = join(work, 'data')
    const server = await startServer(data, { HOME: home }, { node: 'npm', program: 'start' })
    made.defer(async () => void (await server.stop()))
    const shell: Shell = made.use(
      startShell(work, {
        PATH: process.env.PATH,
        HOME: home,
        LC_ALL: 'C.UTF-8',
        TRELLIS: ROOT,
        // Where the server was started it is the default.
        TRELLIS_DATA: data,
      }),
    )
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    // Its commands are typed where the source is. Many are of one kind: those go the way npm would go.
    await shell.type(`npm() {
      [ "$1 $2 $3" = 'run admin --' ] || { command npm --prefix "$TRELLIS" "$@"; return; }
      shift 3
      (cd "$TRELLIS" && PATH="node_modules/.bin:$PATH" && ${scripts.admin} "$@")
    }`)

    /** What the pages name stands for something of this test. */
    const places: [string, string][] = [
      ['127.0.0.1:8787', new URL(server.url).host],
      ['/backups', join(work, 'backups')],
      ['/new/data', join(work, 'restored')],
    ]
    const here = (text: string) =>
      places.reduce((typed, [name, place]) => typed.replaceAll(name, place), text)

    async function followPart(lines: string[], whereIs: (line: number) => string): Promise<void> {
      for (const { line, output, status } of await shell.type(lines.join('\n'))) {
        const written = lines[line] ?? ''
        const told = `${whereIs(line)}: ${written}\n${output}`
        assert.equal(status, 0, told)
        const shown = shownIn(written)
        if (!shown) continue
        let seen = output
        await until(`${told}\nshows what it says`, async () => {
          if (shown.test(withoutSpace(seen))) return true
          assert.ok(isLater(written), `${told}\nis not what the page shows, ${shown}`)
          seen = (await shell.type(written)).map((again) => again.output).join('')
          return false
        })
      }
    }

    return {
      turnTo: async () => void (await shell.type(`cd ${work}`)),
      async follow({ file, line, text }) {
        let start = line
        for (const part of inParts(here(text))) {
          await followPart(part, (at) => `${file}:${start + at}`)
          start += part.length
        }
      },
    }
  })
}
