import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, lstat, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { ownerKeyIn, startServer, withDataDirectory } from './server-process.ts'

const run = promisify(execFile)

/** Everything in a directory, and the directory itself, with its permissions. */
async function modesIn(directory: string): Promise<[string, number][]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => !entry.isSymbolicLink())
    .map(({ parentPath, name }) => join(parentPath, name))
  const modes: [string, number][] = []
  for (const path of [directory, ...paths]) {
    const found = await lstat(path).catch(() => undefined)
    if (found) modes.push([path, found.mode & 0o777])
  }
  return modes
}

async function assertPrivate(directory: string, ...expected: string[]): Promise<void> {
  const modes = await modesIn(directory)
  for (const name of expected)
    assert.ok(
      modes.some(([path]) => path.includes(name)),
      `${name} is not there`,
    )
  assert.deepEqual(
    modes.filter(([, mode]) => mode & 0o077).map(([path, mode]) => `${path} ${mode.toString(8)}`),
    [],
  )
}

describe('the data directory', () => {
  let umask = 0
  before(() => {
    // Servers started from here inherit it: everything they make would be open to all.
    umask = process.umask(0)
  })
  after(() => process.umask(umask))

  it('is for its owner alone with all that is in it, whatever the umask', () =>
    withDataDirectory(async (data) => {
      await chmod(data, 0o755)
      const server = await startServer(data)
      const key = await ownerKeyIn(data)
      await server.client(key).repos.create({ name: 'hello' })
      const changes = [{ op: 'put' as const, path: 'readme', content: 'hello\n' }]
      await server.client(key).git.commits.create({ name: 'hello', branch: 'main', message: 'One', changes })
      const remote = `${server.url.replace('//', `//x:${key}@`)}/git/owner/hello.git`
      // A clone, and a push, leave what they work with.
      const git = (...args: string[]) =>
        run('git', args, { env: { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' } })
      const copy = join(data, '..', `${data.split('/').at(-1)}-copy`)
      try {
        await git('clone', '-q', remote, copy)
        await writeFile(join(copy, 'more'), 'more\n')
        await git('-C', copy, 'add', '-A')
        await git('-C', copy, '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qm', 'Two')
        await git('-C', copy, 'push', '-q')
        await assertPrivate(data, 'trellis.db', 'trellis.db-wal', 'server.key', '.pack', '.idx', '/scratch/')
      } finally {
        await run('rm', ['-rf', copy])
      }
      await server.stop()
    }))

  it('is closed again when it was open to others', () =>
    withDataDirectory(async (data) => {
      const first = await startServer(data)
      const key = await ownerKeyIn(data)
      await first.client(key).repos.create({ name: 'hello' })
      const changes = [{ op: 'put' as const, path: 'readme', content: 'hello\n' }]
      await first.client(key).git.commits.create({ name: 'hello', branch: 'main', message: 'One', changes })
      await first.stop()
      for (const [path, mode] of await modesIn(data)) await chmod(path, mode | 0o077)
      const second = await startServer(data)
      await assertPrivate(data, 'trellis.db', 'server.key', '.pack')
      assert.equal((await second.client(key).repos.list({})).items.length, 1)
      await second.stop()
    }))
})
