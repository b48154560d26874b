// For tests: a repository made and checked by the stock git command, in a directory that goes away.

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Oid, parseOid, parseTreePath, type TreePath } from '../git/names.ts'
import { createGit, type OpenRepo, openRepo } from '../git/process/command.ts'
import { runProgramSync } from './programs.ts'

export interface TestRepo extends Disposable {
  root: string
  gitDir: string
  repo: OpenRepo
  /** Runs stock git and gives its output without the last newline. */
  git(args: readonly string[], input?: string | Uint8Array): string
  /** Commits files (undefined deletes) upon parents. */
  commit(files: Record<string, string | undefined>, ...parents: Oid[]): Oid
  /** A new, empty object directory. */
  quarantine(): string
  /** Takes the packs of a quarantine into the repository. */
  adopt(packDir: string): void
}

const person = { name: 'Ann', email: 'ann@example.org', date: '1700000000 +0100' }
const env = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  // It is thrown away soon.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.fsync',
  GIT_CONFIG_VALUE_0: 'none',
  GIT_AUTHOR_NAME: person.name,
  GIT_AUTHOR_EMAIL: person.email,
  GIT_AUTHOR_DATE: person.date,
  GIT_COMMITTER_NAME: person.name,
  GIT_COMMITTER_EMAIL: person.email,
  GIT_COMMITTER_DATE: person.date,
}

interface Circumstances {
  cwd?: string
  /** In its environment. */
  more?: Record<string, string>
  input?: string | Uint8Array | undefined
}

export function createTestRepo(): TestRepo {
  const root = mkdtempSync(join(tmpdir(), 'trellis-git-'))
  const gitDir = join(root, 'repo.git')
  const run = (
    args: readonly string[],
    { cwd = gitDir, more = {}, input = '' }: Circumstances = {},
  ): string => {
    const { code, stdout, stderr } = runProgramSync(['git', ...args], {
      cwd,
      env: { ...env, ...more },
      input,
    })
    if (code !== 0) throw new Error(`git ${args.join(' ')} exited with ${code}: ${stderr}`)
    return stdout.toString().replace(/\n$/, '')
  }
  const git: TestRepo['git'] = (args, input) => run(args, { input })
  run(['init', '-q', '--bare', '-b', 'main', gitDir], { cwd: root })
  let made = 0

  return {
    root,
    gitDir,
    repo: openRepo(createGit(), gitDir),
    git,
    commit(files, ...parents) {
      const index = { GIT_INDEX_FILE: join(root, `index-${++made}`) }
      const inIndex = (args: string[], input?: string) => run(args, { more: index, input })
      if (parents[0]) inIndex(['read-tree', parents[0]])
      for (const [path, content] of Object.entries(files)) {
        const remove = content === undefined
        const blob = remove ? '0'.repeat(40) : git(['hash-object', '-w', '--stdin'], content)
        inIndex(['update-index', '-z', '--index-info'], `${remove ? '0' : '100644'} ${blob}\t${path}\0`)
      }
      const tree = inIndex(['write-tree'])
      return git(['commit-tree', tree, ...parents.flatMap((p) => ['-p', p])], `commit ${made}\n`) as Oid
    },
    quarantine() {
      const objects = join(root, `quarantine-${++made}`)
      mkdirSync(join(objects, 'pack'), { recursive: true })
      return objects
    },
    adopt(packDir) {
      for (const file of readdirSync(packDir))
        copyFileSync(join(packDir, file), join(gitDir, 'objects/pack', file))
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

export function path(text: string): TreePath {
  const parsed = parseTreePath(text)
  if (!parsed) throw new Error(`not a path: ${text}`)
  return parsed
}

export function oid(text: string): Oid {
  const parsed = parseOid(text)
  if (!parsed) throw new Error(`not an id: ${text}`)
  return parsed
}
