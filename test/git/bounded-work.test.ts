// Work that a few bytes make git do, and clients who make it wait: bounded, and ended when nobody waits for it any more.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqlite } from '@trellis/server/testing'
import { FLUSH, pkt, useHost, ZERO } from './harness.ts'
import { deepBelowWide, repetitiveLines, treeBomb } from './hostile-repositories.ts'

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

  it('over nested trees is given up, told in words, and leaves the others alone', async () => {
    const { client, url } = await host.filled('nested')
    const bomb = await treeBomb(client)
    const told = client.fails('push', url, `${bomb}:refs/heads/bomb`)
    // Meanwhile.
    await host.ok('repos/get', { name: 'nested' })
    assert.match(await told, /more time or memory than is allowed/)
    assert.equal((await host.refs('nested'))['refs/heads/bomb'], undefined)
    await until(isIdle, 60_000)
  })

  async function slowToCompare(name: string): Promise<void> {
    const { client, url } = await host.filled(name)
    for (const [i, branch] of ['one', 'two'].entries()) {
      await client.commit({ 'a.txt': repetitiveLines(i + 1) })
      await client.run('push', '-q', url, `HEAD:refs/heads/${branch}`)
    }
  }

  it('ends with the caller who asked for it', async () => {
    await slowToCompare('slow')
    await until(isIdle, 60_000)
    const leaving = new AbortController()
    const asked = fetch(`${host.app.url}/api/v1/git/compare`, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'slow', base: 'one', head: 'two' }),
      signal: leaving.signal,
    })
    await until(async () => !(await isIdle()), 60_000)
    leaving.abort()
    await assert.rejects(asked)
    await until(isIdle, 10_000)
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
      await until(async () => heard.includes('0005\x02'), 60_000)
      first?.write(body.subarray(body.length - 10))
      await until(async () => heard.includes('ok refs/heads/drip'), 60_000)
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })

  it('finds a file below large directories without reading them in turns of the event loop', async () => {
    const { client, url } = await host.filled('wide')
    const { commit, path } = await deepBelowWide(client)
    await client.run('push', '-q', url, `${commit}:refs/heads/wide`)
    let longest = 0
    let last = performance.now()
    const pulse = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    const found = await host.ok('git/blobs/get', { name: 'wide', ref: 'wide', path })
    clearInterval(pulse)
    assert.equal(found.content, 'found\n')
    // The server runs in this process: reading six of these took seconds.
    assert.ok(longest < 1_000, `the loop stood still for ${longest} ms`)
  })
})
