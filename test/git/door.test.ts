// What clients other than stock git are told at git's door: in a browser, with Git LFS, by mistake.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSqlite } from '@trellis/server/testing'
import { useHost } from './harness.ts'

const PAGE = 'https://editor.example'
const host = useHost(createSqlite, { TRELLIS_CORS_ORIGINS: PAGE }, async (host) => {
  await host.filled('here')
})
const authorization = () => `Bearer ${host.owner.token}`
const refs = () => `${host.remote('here')}/info/refs?service=git-upload-pack`

describe('a page in a browser', () => {
  const preflight = (url: string, origin: string, method = 'GET') =>
    fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,git-protocol',
      },
    })
  const corsIn = ({ headers }: Response) =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-'))

  it('of a configured origin is told what it may send, before it has a credential', async () => {
    for (const url of [
      refs(),
      `${host.remote('here')}/git-upload-pack`,
      `${host.remote('nothing')}/git-receive-pack`,
    ]) {
      const response = await preflight(url, PAGE, 'POST')
      assert.equal(response.status, 204)
      assert.equal(response.headers.get('access-control-allow-origin'), PAGE)
      assert.equal(response.headers.get('access-control-allow-methods'), 'GET, POST')
      const allowed = response.headers.get('access-control-allow-headers')?.split(', ') ?? []
      for (const header of ['authorization', 'content-type', 'git-protocol'])
        assert.ok(allowed.includes(header))
      assert.equal(response.headers.get('access-control-allow-credentials'), null)
    }
  })

  it('of a configured origin may read answers and refusals', async () => {
    const upload = `${host.remote('here')}/git-upload-pack`
    const type = 'application/x-git-upload-pack-request'
    const asked = [
      [200, refs(), { headers: { authorization: authorization() } }],
      [401, refs(), {}],
      [404, refs().replace('here', 'nothing'), { headers: { authorization: authorization() } }],
      [
        200,
        upload,
        {
          method: 'POST',
          headers: { authorization: authorization(), 'content-type': type, 'git-protocol': 'version=2' },
          body: '0014command=ls-refs\n0000',
        },
      ],
    ] as const
    for (const [status, url, init] of asked) {
      const { headers = {} } = init as { headers?: Record<string, string> }
      const response = await fetch(url, { ...init, headers: { origin: PAGE, ...headers } })
      await response.arrayBuffer()
      assert.equal(response.status, status, url)
      assert.equal(response.headers.get('access-control-allow-origin'), PAGE)
      assert.match(response.headers.get('access-control-expose-headers') ?? '', /www-authenticate/)
      assert.match(response.headers.get('vary') ?? '', /origin/i)
    }
  })

  it('of any other origin is told nothing', async () => {
    for (const origin of ['https://evil.example', `${PAGE}.evil.example`, 'null']) {
      const response = await preflight(refs(), origin)
      assert.equal(response.status, 401)
      assert.deepEqual(corsIn(response), [])
      const read = await fetch(refs(), { headers: { origin, authorization: authorization() } })
      await read.arrayBuffer()
      assert.deepEqual([read.status, corsIn(read)], [200, []])
    }
  })
})

describe('a client of Git LFS', () => {
  const type = 'application/vnd.git-lfs+json'
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'POST') => {
    const response = await fetch(`${host.remote('here')}/info/lfs${path}`, {
      method,
      headers: { accept: type, 'content-type': type, ...headers },
      ...(method === 'POST' && { body: '{"operation":"upload","objects":[]}' }),
    })
    assert.ok(response.headers.get('content-type')?.startsWith(type), path)
    return { response, body: (await response.json()) as { message: string; request_id: string } }
  }

  it('is told in its own words that there is none here, and what to do', async () => {
    for (const [path, method] of [
      ['/objects/batch', 'POST'],
      ['/locks/verify', 'POST'],
      ['/locks?limit=1', 'GET'],
      ['', 'GET'],
    ] as const) {
      const { response, body } = await ask(path, { authorization: authorization() }, method)
      assert.equal(response.status, 501)
      assert.match(body.message, /^Git LFS is not supported on this server.*git lfs migrate export/)
      assert.match(body.request_id, /^req_/)
    }
  })

  it('is asked for a credential like everybody else', async () => {
    const both: Record<string, string>[] = [{}, { authorization: 'Bearer garbage' }]
    for (const headers of both) {
      const { response, body } = await ask('/objects/batch', headers)
      assert.equal(response.status, 401)
      assert.equal(response.headers.get('lfs-authenticate'), 'Basic realm="Trellis"')
      assert.match(body.message, /\/auth\.md/)
    }
  })
})

describe('a body of another type', () => {
  it('is not read, and the type it should have is named', async () => {
    for (const service of ['git-upload-pack', 'git-receive-pack'])
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        `application/x-${service}-result`,
      ]) {
        const response = await fetch(`${host.remote('here')}/${service}`, {
          method: 'POST',
          headers: { authorization: authorization(), 'content-type': type },
          body: '0000',
        })
        assert.equal(response.status, 415)
        assert.equal(await response.text(), `Send Content-Type: application/x-${service}-request\n`)
      }
  })

  it('is refused after what is not the caller’s business', async () => {
    const response = await fetch(`${host.remote('nothing')}/git-upload-pack`, {
      method: 'POST',
      headers: { authorization: authorization(), 'content-type': 'text/plain' },
      body: '0000',
    })
    assert.equal(response.status, 404)
  })
})
