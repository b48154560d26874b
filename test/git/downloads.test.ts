// Archives and files as they are, for browsers and for whoever keeps them.

import assert from 'node:assert/strict'
import { get } from 'node:http'
import { before, describe, it } from 'node:test'
import { createSqlite, runProgram, sessionCookieOf } from '@trellis/server/testing'
import { type Client, until, useHost } from './harness.ts'

const host = useHost(createSqlite)
const name = 'kept'
const SCRIPT = '<script>alert(document.domain)</script>'
const LARGE = Buffer.alloc(12 * 1024 * 1024, 'a line of some length\n')
let client: Client

before(async () => {
  ;({ client } = await host.filled(name))
  await client.commit({
    'page.html': `<!doctype html>${SCRIPT}`,
    'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`,
    'picture.PNG': '\x89PNG\0',
    'data.bin': 'a\0b',
    'größe "1".txt': 'ü\n',
    'nothing.txt': '',
    '.gitattributes': 'left-out export-ignore\n',
    'left-out': 'x',
    'large.txt': LARGE.toString(),
  })
  await client.run('push', '-q', host.remote(name), 'main', 'main:feature/one')
})

interface Got {
  status: number
  headers: Partial<Record<string, string>>
  body: Buffer
}

/** Without what `fetch` adds by itself. */
const ask = (path: string, query: Record<string, string>, headers: Record<string, string> = {}) =>
  new Promise<Got>((resolve, reject) => {
    const url = `${host.app.url}/api/v1/git/${path}?${new URLSearchParams({ name, ...query })}`
    get(url, { headers: { authorization: `Bearer ${host.owner.token}`, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response
        .on('data', (chunk) => chunks.push(chunk))
        .on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Got['headers'],
            body: Buffer.concat(chunks),
          }),
        )
        .on('error', reject)
    }).on('error', reject)
  })
const raw = (path: string, query: object = {}, headers?: Record<string, string>) =>
  ask('raw', { path, ...query }, headers)

describe('git/raw', () => {
  it('gives a file as it is, and what it knows of it already as nothing', async () => {
    const { status, headers, body } = await raw('größe "1".txt')
    assert.deepEqual([status, body.toString()], [200, 'ü\n'])
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(
      headers['content-disposition'],
      `inline; filename="gr__e _1_.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.txt`,
    )
    const { etag = '' } = headers
    assert.equal(etag, `"${await client.rev('main:größe "1".txt')}"`)
    const again = await raw('größe "1".txt', {}, { 'if-none-match': etag })
    assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, etag])
    assert.equal((await raw('nothing.txt', { ref: 'feature/one' })).status, 200)
    const kept = await raw('page.html', { download: '1' })
    assert.match(kept.headers['content-disposition'] ?? '', /^attachment; filename="page.html"/)
  })

  it('never lets anything in a file run here', async () => {
    const types = {
      'page.html': 'text/plain; charset=utf-8',
      'drawing.svg': 'text/plain; charset=utf-8',
      'picture.PNG': 'image/png',
      'data.bin': 'application/octet-stream',
    }
    for (const [path, type] of Object.entries(types)) {
      const { headers } = await raw(path, {}, { 'sec-fetch-dest': 'document' })
      assert.equal(headers['content-type'], type, path)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.match(headers['content-security-policy'] ?? '', /default-src 'none'.*; sandbox;/)
      const how = path === 'data.bin' ? /^attachment/ : /^inline/
      assert.match(headers['content-disposition'] ?? '', how, path)
    }
    const image = await raw('drawing.svg', {}, { 'sec-fetch-dest': 'image' })
    assert.equal(image.headers['content-type'], 'image/svg+xml')
    assert.match(image.headers['content-security-policy'] ?? '', /sandbox/)
    assert.match(image.headers.vary ?? '', /sec-fetch-dest/)
  })

  it('streams what is large, and stops when nobody takes it', async () => {
    const { headers, body } = await raw('large.txt')
    assert.equal(headers['content-length'], String(LARGE.length))
    assert.ok(body.equals(LARGE))
    const running = async () => {
      const text = await (await fetch(`${host.app.url}/metrics`)).text()
      return /^trellis_git_processes (\d+)/m.exec(text)?.[1]
    }
    const url = `${host.app.url}/api/v1/git/raw?name=${name}&path=large.txt`
    const hanging = get(url, { headers: { authorization: `Bearer ${host.owner.token}` } })
    await new Promise<void>((resolve) =>
      hanging.once('response', (response) => response.once('readable', resolve)),
    )
    hanging.destroy()
    await until('git is gone', async () => (await running()) === '0')
  })

  it('refuses what is not there, and whoever may not read', async () => {
    const codeOf = ({ status, body }: Got) => `${status} ${JSON.parse(body.toString()).code}`
    assert.equal(codeOf(await raw('nowhere')), '404 GIT_OBJECT_NOT_FOUND')
    assert.equal(codeOf(await raw('page.html', { ref: '--all' })), '404 GIT_OBJECT_NOT_FOUND')
    assert.equal(codeOf(await raw('../x')), '400 BAD_REQUEST')
    assert.equal(codeOf(await ask('raw', {})), '400 BAD_REQUEST')
    assert.equal(codeOf(await raw('page.html', { name: 'none' })), '404 REPO_NOT_FOUND')
    const other = await host.app.signUp('other')
    const theirs = { authorization: `Bearer ${other.token}` }
    assert.equal(codeOf(await raw('page.html', {}, theirs)), '404 REPO_NOT_FOUND')
    assert.equal(codeOf(await raw('page.html', { org: host.owner.slug }, theirs)), '403 FORBIDDEN')
    assert.equal(codeOf(await raw('page.html', {}, { authorization: '' })), '401 UNAUTHENTICATED')
    const { status } = await host.call('git/raw', {})
    assert.equal(status, 405)
  })

  it('takes a password, and a cookie from where somebody comes by themselves', async () => {
    const basic = Buffer.from(`ann:${host.owner.token}`).toString('base64')
    assert.equal((await raw('page.html', {}, { authorization: `Basic ${basic}` })).status, 200)
    const cookie = await sessionCookieOf(host.app, host.owner.email)
    const url = `${host.app.url}/api/v1/git/raw?name=${name}&path=page.html&org=${host.owner.slug}`
    const visit = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        get(url, { headers: { cookie, ...headers } }, (response) => {
          response.resume()
          resolve(response.statusCode)
        }).on('error', reject)
      })
    assert.equal(await visit({ 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'image' }), 200)
    for (const site of ['none', 'cross-site']) {
      const going = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
      assert.equal(await visit(going), 200)
    }
    for (const dest of ['image', 'iframe', 'empty'])
      assert.equal(await visit({ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': dest }), 403)
  })
})

describe('git/archive', () => {
  it('gives the files of a commit, in a folder of their own', async () => {
    const packed = await ask('archive', { ref: 'feature/one', format: 'tar.gz' })
    assert.equal(packed.headers['content-type'], 'application/gzip')
    assert.match(
      packed.headers['content-disposition'] ?? '',
      /^attachment; filename="kept-feature-one.tar.gz"/,
    )
    const { stdout } = await runProgram(['tar', '-tzf', '-'], {
      cwd: client.dir,
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' },
      input: packed.body,
    })
    const listed = stdout.toString().split('\n')
    assert.ok(listed.includes('kept-feature-one/page.html'), stdout.toString())
    assert.ok(!listed.includes('kept-feature-one/left-out'))

    const zip = await ask('archive', {})
    assert.equal(zip.headers['content-type'], 'application/zip')
    assert.match(zip.headers['content-disposition'] ?? '', /filename="kept-main.zip"/)
    assert.equal(zip.body.toString('latin1', 0, 4), 'PK\x03\x04')
    assert.ok(zip.body.includes('kept-main/page.html'))
  })

  it('refuses before the first byte', async () => {
    const codeOf = ({ status, body }: Got) => `${status} ${JSON.parse(body.toString()).code}`
    assert.equal(codeOf(await ask('archive', { ref: 'nothing' })), '404 GIT_OBJECT_NOT_FOUND')
    assert.equal(codeOf(await ask('archive', { format: 'exe' })), '400 BAD_REQUEST')
    assert.equal(codeOf(await ask('archive', {}, { authorization: '' })), '401 UNAUTHENTICATED')
  })
})
