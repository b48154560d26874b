// The stock git client against a small server made of these parts, with refs in a map.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { refList, type Served, startGitServer } from '../testing/git-server.ts'
import { runProgram } from '../testing/programs.ts'
import type { Oid, RefName } from './names.ts'
import { dataPacket, FLUSH_PACKET } from './protocol/pkt-line.ts'

const root = mkdtempSync(join(tmpdir(), 'smart-http-'))

let server: Awaited<ReturnType<typeof startGitServer>>
let base: string
before(async () => {
  server = await startGitServer(root)
  base = server.url
})
after(async () => {
  await server.close()
  // Neither a refused nor a finished push leaves anything in quarantine.
  const left = readdirSync(join(root, 'quarantine'))
  rmSync(root, { recursive: true, force: true })
  assert.deepEqual(left, [])
})

const env = {
  PATH: process.env.PATH,
  HOME: root,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
}

interface Client {
  dir: string
  run(...args: string[]): Promise<string>
  fails(...args: string[]): Promise<string>
}

let clients = 0
/** A client repository; `run` gives standard output and `fails` what the user is told. */
function clientAt(version: number, dir = join(root, `client-${++clients}`)): Client {
  mkdirSync(dir, { recursive: true })
  const settings = [
    `protocol.version=${version}`,
    'init.defaultBranch=main',
    // What it makes need be neither tidy nor safe.
    'maintenance.auto=false',
    'core.fsync=none',
  ]
  const git = (args: string[]) =>
    runProgram(['git', ...settings.flatMap((setting) => ['-c', setting]), ...args], { cwd: dir, env })
  return {
    dir,
    async run(...args) {
      const { code, stdout, stderr } = await git(args)
      assert.equal(code, 0, `git ${args.join(' ')}: ${stderr}`)
      return stdout.toString().trim()
    },
    async fails(...args) {
      const { code, stderr } = await git(args)
      assert.notEqual(code, 0, `git ${args.join(' ')} should have failed`)
      return stderr
    },
  }
}

async function cloneOf(name: string, version: number, ...args: string[]): Promise<Client> {
  const client = clientAt(version)
  await client.run('clone', '-q', ...args, `${base}/${name}`, '.')
  return client
}

let template: Client
/** Ten commits, a branch and an annotated tag. */
before(async () => {
  template = clientAt(2)
  await template.run('init', '-q')
  for (let i = 1; i <= 10; i++) {
    writeFileSync(join(template.dir, `file-${i % 4}.txt`), `content ${i}\n`.repeat(50))
    await template.run('add', '.')
    await template.run('commit', '-q', '-m', `commit ${i}`)
  }
  await template.run('branch', 'side', 'HEAD~3')
  await template.run('tag', '-a', '-m', 'first', 'v1', 'HEAD~2')
})

/** A copy of the template, pushed to a new repository. */
async function filled(name: string, version = 2): Promise<{ client: Client; served: Served; url: string }> {
  const url = `${base}/${name}`
  const client = clientAt(version)
  cpSync(template.dir, client.dir, { recursive: true })
  await client.run('push', '-q', url, 'main', 'side', 'v1')
  return { client, served: server.repositories.get(name) as Served, url }
}

for (const version of [0, 1, 2]) {
  test(`version ${version}: clones whole, shallow, blobless, treeless and of one branch`, async () => {
    const name = `clones-${version}`
    const { client } = await filled(name, version)
    const head = await client.run('rev-parse', 'HEAD')

    const whole = await cloneOf(name, version)
    assert.equal(
      await whole.run('rev-parse', 'HEAD', 'v1^{}'),
      `${head}\n${await client.run('rev-parse', 'HEAD~2')}`,
    )
    assert.equal(await whole.run('rev-parse', 'origin/side'), await client.run('rev-parse', 'side'))
    await whole.run('fsck', '--full', '--strict')

    const shallow = await cloneOf(name, version, '--depth=2')
    assert.equal(await shallow.run('rev-list', '--count', 'HEAD'), '2')
    await shallow.run('fetch', '-q', '--unshallow')
    assert.equal(await shallow.run('rev-list', '--count', 'HEAD'), '10')
    await shallow.run('fsck', '--full')

    const excluding = await cloneOf(name, version, '--shallow-exclude=side')
    assert.equal(await excluding.run('rev-list', '--count', 'HEAD'), '3')

    const blobless = await cloneOf(name, version, '--filter=blob:none', '--no-checkout')
    assert.match(await blobless.run('rev-list', '--objects', '--missing=print', 'HEAD'), /^\?/m)
    // Blobs are fetched one by one when they are needed.
    assert.equal(await blobless.run('show', 'HEAD~9:file-1.txt'), 'content 1\n'.repeat(50).trim())
    const treeless = await cloneOf(name, version, '--filter=tree:0')
    assert.equal(await treeless.run('rev-list', '--count', 'HEAD'), '10')

    const single = await cloneOf(name, version, '--single-branch', '--branch=side')
    assert.equal(await single.run('for-each-ref', '--format=%(refname)', 'refs/remotes/origin/main'), '')
    assert.equal(await single.run('rev-list', '--count', 'HEAD'), '7')
  })

  test(`version ${version}: fetches what is new, with tags that belong to it`, async () => {
    const { client, url } = await filled(`fetch-${version}`, version)
    const other = await cloneOf(`fetch-${version}`, version)
    await client.run('commit', '-q', '--allow-empty', '-m', 'eleven')
    await client.run('tag', '-a', '-m', 'second', 'v2')
    await client.run('push', '-q', url, 'main', 'v2')
    await other.run('fetch', '-q')
    assert.equal(
      await other.run('rev-parse', 'origin/main', 'v2'),
      await client.run('rev-parse', 'main', 'v2'),
    )
    await other.run('fetch', '-q')
    await other.run('fsck', '--full')
    // Any object may be asked for by its id.
    const lone = clientAt(version)
    await lone.run('init', '-q')
    await lone.run('fetch', '-q', '--depth=1', url, await client.run('rev-parse', 'HEAD~5'))
    assert.match(await lone.fails('fetch', '-q', url, 'a'.repeat(40)), /not our ref a+/)
  })

  test(`version ${version}: pushes new branches, forces, deletes, and refuses a stale update`, async () => {
    const { client, served, url } = await filled(`push-${version}`, version)
    const oidOf = (name: string) => served.refs.get(name as RefName)?.oid
    await client.run('push', '-q', url, 'HEAD:refs/heads/new', 'HEAD~1:refs/heads/größe')
    assert.equal(oidOf('refs/heads/new'), await client.run('rev-parse', 'HEAD'))
    assert.equal(oidOf('refs/heads/größe'), await client.run('rev-parse', 'HEAD~1'))
    await client.run('push', '-q', '--force', url, 'HEAD~4:refs/heads/new')
    assert.equal(oidOf('refs/heads/new'), await client.run('rev-parse', 'HEAD~4'))
    await client.run('push', '-q', url, ':refs/heads/new')
    assert.equal(oidOf('refs/heads/new'), undefined)

    const other = await cloneOf(served.name, version)
    for (const author of [client, other]) {
      await author.run('commit', '-q', '--allow-empty', '-m', author.dir)
    }
    await client.run('push', '-q', url, 'main')
    assert.match(await other.fails('push', url, 'main'), /rejected/)
    assert.equal(oidOf('refs/heads/main'), await client.run('rev-parse', 'main'))
  })

  test(`version ${version}: an atomic push moves all refs or none`, async () => {
    const { client, served, url } = await filled(`atomic-${version}`, version)
    const head = await client.run('rev-parse', 'HEAD')
    // A name that git takes and this server refuses, because below refs/ it has no category.
    const message = await client.fails('push', '--atomic', url, 'HEAD:refs/heads/good', 'HEAD:refs/odd')
    assert.match(message, /refs\/odd.*bad ref name/)
    assert.match(message, /good.*atomic push failure/)
    assert.equal(served.refs.has('refs/heads/good' as RefName), false)
    assert.match(await client.fails('push', url, 'HEAD:refs/heads/good', 'HEAD:refs/odd'), /new branch.*good/)
    assert.equal(served.refs.get('refs/heads/good' as RefName)?.oid, head)
  })

  test(`version ${version}: an empty repository can be cloned and pushed to`, async () => {
    const empty = await cloneOf(`empty-${version}`, version)
    assert.equal(await empty.run('symbolic-ref', 'HEAD'), 'refs/heads/main')
    await empty.run('commit', '-q', '--allow-empty', '-m', 'first')
    await empty.run('push', '-q', 'origin', 'HEAD')
    const again = await cloneOf(`empty-${version}`, version)
    assert.equal(await again.run('rev-parse', 'HEAD'), await empty.run('rev-parse', 'HEAD'))
  })
}

test('push options arrive, and progress is shown to the person', async () => {
  const { client, served, url } = await filled('options')
  await client.run('commit', '-q', '--allow-empty', '-m', 'x')
  const pushed = await runProgram(
    ['git', 'push', '--progress', '-o', 'ci.skip', '-o', 'topic=ünïcode', url, 'main'],
    { cwd: client.dir, env },
  )
  assert.equal(pushed.code, 0, pushed.stderr)
  assert.deepEqual(served.lastPush?.options, ['ci.skip', 'topic=ünïcode'])
  assert.match(pushed.stderr, /remote: Checking the push/)
})

test('five thousand refs are listed and mirrored', async () => {
  const { client, served, url } = await filled('many')
  const oid = (await client.run('rev-parse', 'HEAD')) as Oid
  // Not pushed: the client takes a quarter of a minute to match so many refs with themselves.
  for (let i = 0; i < 5000; i++) {
    const name = `refs/heads/topic/b${i}` as RefName
    served.refs.set(name, { name, oid, peeled: null })
  }
  served.version++
  for (const version of [0, 2]) {
    const listed = await clientAt(version).run('ls-remote', url, 'refs/heads/topic/*')
    assert.equal(listed.split('\n').length, 5000)
  }
  const mirror = await cloneOf('many', 2, '--mirror')
  const format = '--format=%(objectname) %(refname)'
  const theirs = await mirror.run('for-each-ref', format)
  assert.equal(theirs, refsOf(served).join('\n'))
})

function refsOf(served: Served): string[] {
  return [...refList(served).refs].map(({ name, oid }) => `${oid} ${name}`)
}

test('many refs are pushed at once, and a compressed request is understood', async () => {
  const { client, served, url } = await filled('several')
  for (let i = 0; i < 50; i++) {
    const commit = await client.run('commit-tree', '-p', 'HEAD', '-m', `commit ${i}`, 'HEAD^{tree}')
    await client.run('update-ref', `refs/heads/topic/b${i}`, commit)
  }
  await client.run('push', '-q', url, 'refs/heads/topic/*')
  assert.equal(served.refs.size, 53)
  const copy = await cloneOf('several', 0)
  await copy.run('fsck', '--full')
  assert.equal(await copy.run('rev-parse', 'origin/topic/b49'), await client.run('rev-parse', 'topic/b49'))
  assert.ok(served.gzipped > 0)
})

test('equal clones at the same time are produced once', async () => {
  const { served } = await filled('shared')
  const copies = await Promise.all(Array.from({ length: 6 }, () => cloneOf('shared', 2)))
  assert.equal(served.productions, 1)
  for (const copy of copies) await copy.run('fsck', '--full')
  const { client, url } = { client: copies[0] as Client, url: `${base}/shared` }
  await client.run('tag', '-a', '-m', 'late', 'v9')
  await client.run('push', '-q', url, 'v9')
  const later = await cloneOf('shared', 2, '--single-branch')
  assert.equal(await later.run('tag', '--list'), 'v1\nv9')
})

test('everything pushed is whole on the server', async () => {
  const { client, served, url } = await filled('whole')
  const files = Array.from({ length: 300 }, (_, i) => [`dir-${i % 7}/f${i}`, `${i}\n`.repeat(i)] as const)
  for (const [path, content] of files) {
    mkdirSync(join(client.dir, path, '..'), { recursive: true })
    writeFileSync(join(client.dir, path), content)
  }
  await client.run('add', '.')
  await client.run('commit', '-q', '-m', 'many files')
  await client.run('push', '-q', url, 'main')
  const dir = await server.layOut(served)
  await clientAt(2, dir).run('fsck', '--full', '--strict')
  const copy = await cloneOf('whole', 2)
  assert.equal(await copy.run('rev-parse', 'HEAD^{tree}'), await client.run('rev-parse', 'HEAD^{tree}'))
})

test('a shallow client pushes on top of what the server has', async () => {
  const { client, url } = await filled('shallow-push')
  const shallow = await cloneOf('shallow-push', 2, '--depth=1')
  await shallow.run('commit', '-q', '--allow-empty', '-m', 'on top')
  await shallow.run('push', '-q', 'origin', 'main')
  await client.run('pull', '-q', '--ff-only', url, 'main')
  // But it cannot make the server shallow too.
  const elsewhere = `${base}/shallow-elsewhere`
  assert.match(await shallow.fails('push', elsewhere, 'main'), /missing necessary objects|unpacker error/)
  assert.deepEqual(server.repositories.get('shallow-elsewhere')?.packIds, [])
})

test('a push with a broken pack is refused with a reason and stores nothing', async () => {
  const { client, served, url } = await filled('broken')
  const packs = served.packIds
  const head = await client.run('rev-parse', 'HEAD')
  const command = dataPacket(`${'0'.repeat(40)} ${head} refs/heads/evil\0report-status`)
  for (const pack of ['', 'PACK\0\0\0\x02\0\0\0\x05', 'noise '.repeat(1000)]) {
    const body = Buffer.concat([command, FLUSH_PACKET, Buffer.from(pack, 'latin1')])
    const response = await fetch(`${url}/git-receive-pack`, { method: 'POST', body })
    assert.equal(response.status, 200)
    assert.match(
      await response.text(),
      /^....unpack (?!ok).*\n....ng refs\/heads\/evil unpacker error\n0000$/,
    )
  }
  assert.deepEqual(served.packIds, packs)
  assert.equal(served.refs.has('refs/heads/evil' as RefName), false)
})

test('a request that is no git request is answered with an error packet', async () => {
  await filled('noise')
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const response = await fetch(`${base}/noise/${service}`, {
      method: 'POST',
      body: 'hello, are you there?',
    })
    assert.equal(response.status, 200)
    assert.match(await response.text(), /^....ERR bad packet length\n$/)
  }
})

test('a push that is too large is received far enough to tell the client why', async () => {
  const client = clientAt(2)
  await client.run('init', '-q')
  writeFileSync(join(client.dir, 'large.bin'), randomBytes(12_000_000))
  await client.run('add', '.')
  await client.run('commit', '-q', '-m', 'large')
  const message = await client.fails('push', `${base}/large`, 'main')
  assert.match(message, /unpack failed: the pack is larger than 8000000 bytes/)
  assert.match(message, /main -> main \(unpacker error\)/)
  assert.deepEqual(server.repositories.get('large')?.packIds, [])

  writeFileSync(join(client.dir, 'large.bin'), randomBytes(3_000_000))
  await client.run('add', '.')
  await client.run('commit', '-q', '--amend', '-m', 'smaller')
  await client.run('push', '-q', `${base}/large`, 'main')
  const copy = await cloneOf('large', 2)
  assert.equal(await copy.run('rev-parse', 'HEAD'), await client.run('rev-parse', 'HEAD'))
})
