// Work that a few bytes make git do, and clients who make it wait: bounded, and ended when nobody waits for it any more.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqlite } from '@trellis/server/testing'
import { type Client, FLUSH, pkt, useHost, ZERO } from './harness.ts'

describe('git work', () => {
  const host = useHost(createSqlite)

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${host.app.url}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }

  async function until(isSo: () => Promise<boolean>, withinMs: number): Promise<void> {
    for (const deadline = performance.now() + withinMs; !(await isSo()); await sleep(50))
      assert.ok(performance.now() < deadline, 'it took too long')
  }

  const isIdle = async () => (await metric('trellis_git_processes')) === 0

  /** A commit whose tree holds ten times ten times ten ... files, in a few hundred bytes. */
  async function treeBomb(client: Client): Promise<string> {
    const blob = await client.feed('boom', 'hash-object', '-w', '--stdin')
    let entry = `100644 blob ${blob}`
    for (let depth = 0; depth < 9; depth++) {
      const lines = Array.from({ length: 10 }, (_, i) => `${entry}\t${i}\n`).join('')
      entry = `040000 tree ${await client.feed(lines, 'mktree')}`
    }
    return client.run('commit-tree', '-m', 'bomb', entry.split(' ')[2] ?? '')
  }

  it('over nested trees is given up, told in words, and leaves the others alone', async () => {
    const { client, url } = await host.filled('nested')
    const bomb = await treeBomb(client)
    const told = client.fails('push', url, `${bomb}:refs/heads/bomb`)
    // Meanwhile.
    await host.ok('repos/get', { name: 'nested' })
    assert.match(await told, /more time or memory than is allowed/)
    assert.equal((await host.refs('nested'))['refs/heads/bomb'], undefined)
    await until(isIdle, 5_000)
  })

  /** Two files of the same few lines in another order, which git would compare for minutes. */
  async function slowToCompare(name: string): Promise<void> {
    const { client, url } = await host.filled(name)
    const lines = (seed: number) => {
      let state = seed
      return Array.from({ length: 200_000 }, () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        return `${state >>> 30}\n`
      }).join('')
    }
    await client.commit({ 'a.txt': lines(1) })
    await client.run('push', '-q', url, 'HEAD:refs/heads/one')
    await client.commit({ 'a.txt': lines(2) })
    await client.run('push', '-q', url, 'HEAD:refs/heads/two')
  }

  it('ends with the caller who asked for it', async () => {
    await slowToCompare('slow')
    await until(isIdle, 5_000)
    const leaving = new AbortController()
    const asked = fetch(`${host.app.url}/api/v1/git/compare`, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'slow', base: 'one', head: 'two' }),
      signal: leaving.signal,
    })
    await until(async () => !(await isIdle()), 5_000)
    leaving.abort()
    await assert.rejects(asked)
    await until(isIdle, 3_000)
  })

  it('is not begun for a push that is still on its way, which is kept awake', async () => {
    const { client } = await host.filled('dripping')
    const commit = await client.commit({ 'big.bin': 'x'.repeat(1000) })
    const { stdout: pack } = await client.feedRaw(`${commit}\n`, 'pack-objects', '--stdout', '--revs', '-q')
    const command = pkt(`${ZERO} ${commit} refs/heads/drip\0 report-status side-band-64k quiet`)
    const body = Buffer.concat([command, FLUSH, pack])
    const { hostname, port } = new URL(host.app.url)
    const open = async () => {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      socket.write(
        `POST ${new URL(host.remote('dripping')).pathname}/git-receive-pack HTTP/1.1\r\nhost: x\r\n` +
          `authorization: Bearer ${host.owner.token}\r\ncontent-length: ${body.length}\r\n` +
          'content-type: application/x-git-receive-pack-request\r\n\r\n',
      )
      socket.write(body.subarray(0, body.length - 10))
      return socket
    }
    const sockets = await Promise.all(Array.from({ length: 20 }, open))
    try {
      const [first] = sockets
      let heard = ''
      first?.on('data', (chunk) => {
        heard += chunk.toString('latin1')
      })
      await sleep(300)
      assert.ok(await isIdle(), 'a process waits for a client')
      await host.clone('dripping')
      await until(async () => heard.includes('0005\x01'), 8_000)
      first?.write(body.subarray(body.length - 10))
      await until(async () => heard.includes('ok refs/heads/drip'), 10_000)
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })

  it('finds a file below large directories without reading them in turns of the event loop', async () => {
    const { client, url } = await host.filled('wide')
    const blob = await client.feed('found\n', 'hash-object', '-w', '--stdin')
    let inner = ''
    for (let depth = 0; depth < 6; depth++) {
      const names = Array.from(
        { length: 60_000 },
        (_, i) => `100644 blob ${blob}\tf${String(i).padStart(6, '0')}\n`,
      )
      inner = await client.feed(`${names.join('')}${inner && `040000 tree ${inner}\tz\n`}`, 'mktree')
    }
    const commit = await client.run('commit-tree', '-m', 'wide', inner)
    await client.run('push', '-q', url, `${commit}:refs/heads/wide`)
    let longest = 0
    let last = performance.now()
    const pulse = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    const path = 'z/z/z/z/z/f059999'
    const found = await host.ok('git/blobs/get', { name: 'wide', ref: 'wide', path })
    clearInterval(pulse)
    assert.equal(found.content, 'found\n')
    // The server runs in this process: reading six of these took seconds.
    assert.ok(longest < 1_000, `the loop stood still for ${longest} ms`)
  })
})
