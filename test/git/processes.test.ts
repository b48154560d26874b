// Git processes: who leaves takes theirs along, and one serves all who ask the same.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, rename, unlink, writeFile } from 'node:fs/promises'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createSqlite } from '@trellis/server/testing'
import { FLUSH, type Host, pkt, post, pushBody, storedFiles, until, useHost } from './harness.ts'

let head: string
const host = useHost(createSqlite, {}, async (host) => {
  head = await pushLarge(host)
})

async function pushLarge(host: Host): Promise<string> {
  const url = await host.repo('large')
  const client = host.client({ config: { 'core.compression': '0' } })
  await client.run('init', '-q')
  await client.commit({ small: 'x\n' })
  for (let i = 0; i < 8; i++)
    await client.commit({ [`noise-${i}`]: randomBytes(1_500_000).toString('base64') })
  await client.run('push', '-q', url, 'main')
  return client.rev('main')
}

/** The processes that a host has started for a git command. */
function running(verb: string, { app } = host): number[] {
  return readdirSync('/proc')
    .filter((pid) => {
      try {
        const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
        return args.includes(verb) && args.some((arg) => arg.startsWith(`--git-dir=${app.data}`))
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Begins a request whose answer nobody reads. */
function begin(service: string, body: Buffer, { length = body.length, at = host } = {}): ClientRequest {
  const asked = request(`${at.remote('large')}/${service}`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${at.owner.token}`,
      'content-type': `application/x-${service}-request`,
      'git-protocol': 'version=2',
      'content-length': length,
    },
  })
  asked.on('error', () => {})
  asked.on('response', (response) => {
    response.on('error', () => {})
    response.pause()
  })
  asked.write(body)
  return asked
}

const fetchBody = (want: string, ...more: string[]) =>
  Buffer.concat([
    pkt('command=fetch'),
    Buffer.from('0001'),
    ...more.map((line) => pkt(line)),
    pkt(`want ${want}`),
    pkt('done'),
    FLUSH,
  ])

describe('a small push', () => {
  /** How the files end that a push adds to the stored packs. */
  async function addedBy(push: () => Promise<unknown>): Promise<string[]> {
    const before = new Set(await storedFiles(host.app.data))
    await push()
    const added = (await storedFiles(host.app.data)).filter((file) => !before.has(file))
    return added.map((file) => file.slice(file.lastIndexOf('.'))).toSorted()
  }

  it('of plain text is taken in without git, and others with it, which leaves an index more', async () => {
    const url = await host.repo('small')
    const client = host.client()
    await client.run('init', '-q')
    const pushed = (files: Record<string, string>) =>
      addedBy(async () => {
        await client.commit(files)
        await client.run('push', '-q', url, 'main')
      })
    assert.deepEqual(await pushed({ 'a.txt': 'one\n'.repeat(100), 'dir/b.txt': 'two\n' }), ['.idx', '.pack'])
    assert.deepEqual(await pushed({ 'a.txt': `${'one\n'.repeat(100)}more\n` }), ['.idx', '.pack'])
    assert.deepEqual(await pushed({ '.gitmodules': '[submodule "a"]\n' }), ['.idx', '.pack', '.rev'])
    const branch = () => client.run('push', '-q', url, 'main:refs/heads/other')
    assert.deepEqual(await addedBy(branch), [])
    const clone = await host.clone('small')
    await clone.run('fsck', '--strict')
    assert.equal(await clone.rev('HEAD'), await client.rev('main'))
  })

  it('that turns out not to be plain leaves no more than git takes in, and nothing when it is refused', async () => {
    const url = await host.repo('doubtful')
    const client = host.client()
    await client.run('init', '-q')
    const before = await client.commit({ 'a.txt': 'one\n' })
    await client.run('push', '-q', url, 'main')
    const push = async (after: string, objects: readonly string[]) => {
      const { stdout: pack } = await client.feedRaw(objects.join('\n'), 'pack-objects', '--stdout', '-q')
      const body = pushBody([{ ref: 'refs/heads/main', before, after }], pack)
      const answer = await post(host, 'doubtful', 'git-receive-pack', body)
      return answer.body.toString()
    }
    const commitOf = async (entries: string) => {
      const tree = (await client.feed(entries, 'mktree', '--missing')).trim()
      return { tree, commit: (await client.run('commit-tree', '-p', before, '-m', 'x', tree)).trim() }
    }
    // Git reads attributes up to the zero.
    const attributes = (await client.feed('* text\0\n', 'hash-object', '-w', '--stdin')).trim()
    const lacking = await commitOf(`100644 blob ${'d'.repeat(40)}\ta.txt\n`)
    const refused = addedBy(async () =>
      assert.match(await push(lacking.commit, [lacking.commit, lacking.tree]), /ng refs\/heads\/main/),
    )
    assert.deepEqual(await refused, [])
    const odd = await commitOf(`100644 blob ${attributes}\t.gitattributes\n`)
    const taken = addedBy(async () =>
      assert.match(await push(odd.commit, [odd.commit, odd.tree, attributes]), /ok refs\/heads\/main/),
    )
    assert.deepEqual(await taken, ['.idx', '.pack', '.rev'])
  })
})

it('a small push that cannot be stored is refused, whatever else is found out of it, and can be tried again', async () => {
  const { client, url } = await host.filled('unstored')
  const packs = join(host.app.data, 'packs')
  await rename(packs, `${packs}.away`)
  await writeFile(packs, '')
  try {
    for (let i = 0; i < 5; i++) {
      await client.commit({ 'a.txt': `${i}\n` })
      await assert.rejects(client.run('push', '-q', url, 'main'))
    }
  } finally {
    await unlink(packs)
    await rename(`${packs}.away`, packs)
  }
  await client.run('push', '-q', url, 'main')
  assert.equal((await host.refs('unstored'))['refs/heads/main'], await client.rev('main'))
})

describe('a client that goes away', () => {
  it('in the middle of a fetch takes its git process along', async () => {
    // Negotiation makes the answer one for this client alone.
    const asked = begin('git-upload-pack', fetchBody(head, `have ${'b'.repeat(40)}`))
    await until('git answers', () => running('upload-pack').length === 1)
    assert.equal(await metric('trellis_git_processes'), 1)
    await new Promise((wake) => setTimeout(wake, 300))
    assert.equal(running('upload-pack').length, 1, 'the process waits for the client to read')
    asked.destroy()
    await until('git is gone', () => running('upload-pack').length === 0)
  })

  it('in the middle of a push has had no git process, and nothing is kept of what came', async () => {
    const before = [await host.refs('large'), await host.packs('large'), (await host.events('large')).length]
    const pack = Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x05', 'latin1'), randomBytes(2_000_000)])
    const body = pushBody([{ ref: 'refs/heads/half', after: head }], pack)
    const asked = begin('git-receive-pack', body, { length: body.length + 1000 })
    await until('it is kept in a file', async () => (await incoming()).length === 1)
    assert.equal(running('index-pack').length, 0)
    asked.destroy()
    await until('the file is gone', async () => (await incoming()).length === 0)
    assert.deepEqual(
      [await host.refs('large'), await host.packs('large'), (await host.events('large')).length],
      before,
    )
  })
})

/** What is on its way to the server and has not arrived whole. */
async function incoming(): Promise<string[]> {
  const files = await readdir(join(host.app.data, 'scratch'), { recursive: true })
  return files.filter((file) => /incoming\/pack-/.test(file))
}

describe('a client that goes away where there is little room', () => {
  let wanted: string
  // A clone that can be kept git has written before a test could look; here it waits for the client to read.
  const crowded = useHost(createSqlite, { TRELLIS_CLONE_CACHE_BYTES: '4000000' }, async (host) => {
    wanted = await pushLarge(host)
  })

  it('in the middle of a clone takes its git process along too, when nobody else waits for it', async () => {
    const asked = begin('git-upload-pack', fetchBody(wanted, 'no-progress'), { at: crowded })
    await until('git answers', () => running('upload-pack', crowded).length === 1)
    asked.destroy()
    await until('git is gone', () => running('upload-pack', crowded).length === 0)
  })
})

async function metrics(): Promise<[name: string, value: number][]> {
  const text = await (await fetch(`${host.app.url}/metrics`)).text()
  return text.split('\n').flatMap((line) => {
    const [, name, value] = /^(\w\S*) (\S+)$/.exec(line) ?? []
    return name ? [[name, Number(value)]] : []
  })
}

const metric = async (name: string) => (await metrics()).find(([found]) => found === name)?.[1] ?? Number.NaN

const clonesBySource = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await metrics()).flatMap(([name, value]) => {
      const source = /^trellis_clones_total\{source="(\w+)"\}$/.exec(name)?.[1]
      return source ? [[source, value]] : []
    }),
  )

describe('clones of the same', () => {
  it('share one git process when they come together, and need none when they come later', async () => {
    const first = await clonesBySource()
    const clones = await Promise.all(Array.from({ length: 8 }, () => host.clone('large', {}, '--bare')))
    for (const clone of clones) assert.equal(await clone.rev('HEAD'), head)
    await clones[0]?.run('fsck', '--full')
    const before = await clonesBySource()
    assert.equal((before.made ?? 0) - (first.made ?? 0), 1)
    await host.clone('large', {}, '--bare')
    assert.deepEqual(await clonesBySource(), { ...before, kept: (before.kept ?? 0) + 1 })
    assert.ok((await metric('trellis_clone_cache_bytes')) > 8_000_000)
  })

  it('get what is there now, not what was: after a force-push, a new tag and a deleted one', async () => {
    const { client, url } = await host.filled('moving')
    const before = await host.clone('moving')
    assert.equal(await before.rev('HEAD'), await client.rev('main'))
    await client.run('reset', '-q', '--hard', 'main~3')
    const forced = await client.commit({ 'instead.txt': 'x\n' })
    await client.run('push', '-q', '--force', url, 'main')
    const moved = await host.clone('moving')
    assert.equal(await moved.rev('HEAD'), forced)
    await moved.run('fsck', '--full')

    await client.run('tag', '-a', '-m', 'late', 'late', 'main~1')
    await client.run('push', '-q', url, 'late', ':refs/tags/v1')
    const tagged = await host.clone('moving', {}, '--single-branch')
    assert.equal(await tagged.run('tag'), 'late')
    await host.ok('repos/update', { name: 'moving', defaultBranch: 'side' })
    assert.equal(await (await host.clone('moving')).run('branch', '--show-current'), 'side')
  })

  it('do not give one repository what another has', async () => {
    const { client, url } = await host.filled('private')
    const hidden = await client.commit({ 'hidden.txt': 'hidden\n' })
    await client.run('push', '-q', url, 'main')
    await host.clone('private')
    await host.filled('public')
    const thief = host.client()
    await thief.run('init', '-q')
    assert.match(await thief.fails('fetch', host.remote('public'), hidden), /not our ref/)
  })
})
