import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { glob, mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { ORG_PAGES, RESERVED_SLUGS } from '@trellis/contract'
import { createSqlite, startTestApp, type TestApp, useInSuite } from '../../testing/index.ts'

const PAGE = '<!doctype html><title>The console</title>'
const SCRIPT = 'export const console = "here"'
const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('the console in the server', () => {
  const app: TestApp = useInSuite(async (made) => {
    const { path } = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-console-')))
    await mkdir(join(path, 'assets'))
    await writeFile(join(path, 'index.html'), PAGE)
    await writeFile(join(path, 'assets/index-Ab3_-x9Z.js'), SCRIPT)
    await writeFile(join(path, 'assets/index-Ab3_-x9Z.js.br'), brotliCompressSync(SCRIPT))
    await writeFile(join(path, 'assets/theme.js'), SCRIPT)
    return made.use(await startTestApp(made.use(await createSqlite()), {}, { consoleDirectory: path }))
  })
  const ask = (path: string, headers: Record<string, string> = asBrowser, method = 'GET') =>
    fetch(app.url + path, { headers, method, redirect: 'manual' })

  it('is shown wherever a browser goes and nothing else is', async () => {
    for (const path of [
      '/',
      '/acme',
      '/acme/widgets/tree/main/a.txt',
      '/o/api/x',
      '/account/keys',
      '/admin',
    ]) {
      const answer = await ask(path)
      assert.deepEqual([answer.status, await answer.text()], [200, PAGE], path)
      assert.equal(answer.headers.get('cache-control'), 'no-cache')
      assert.match(
        answer.headers.get('content-security-policy') ?? '',
        /^default-src 'none'; script-src 'self'; style-src 'self';.* frame-ancestors 'none'$/,
      )
    }
    assert.match(await (await ask('/login')).text(), /Sign in/)
    const reference = await (await ask('/reference')).text()
    assert.match(reference, /repos\/list/)
    assert.match(reference, /<a href="\/">Back to the console</)
  })

  it('is not shown to programs, nor to whoever sends something', async () => {
    const missing = await ask('/acme', { accept: 'application/json' })
    assert.deepEqual([missing.status, ((await missing.json()) as { code: string }).code], [404, 'NOT_FOUND'])
    assert.equal((await ask('/acme', asBrowser, 'POST')).status, 404)
    assert.equal((await ask('/', {})).headers.get('location'), '/reference')
    assert.equal((await ask('/api/v1/nothing', asBrowser)).status, 404)
  })

  it('is asked for again only when it has changed', async () => {
    const etag = (await ask('/')).headers.get('etag') ?? ''
    const again = await ask('/acme', { ...asBrowser, 'if-none-match': `"other", ${etag}` })
    assert.deepEqual([again.status, await again.text()], [304, ''])
    assert.equal((await ask('/assets/theme.js')).headers.get('cache-control'), 'no-cache')
    const lasting = await ask('/assets/index-Ab3_-x9Z.js')
    assert.equal(lasting.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  })

  it('comes compressed to whoever can read that', async () => {
    const path = '/assets/index-Ab3_-x9Z.js'
    for (const accepted of ['gzip, deflate, br', 'br;q=0.5', 'identity', 'br;q=0', 'br; q=0.0, gzip']) {
      const answer = await ask(path, { 'accept-encoding': accepted })
      const isSmall = ['gzip, deflate, br', 'br;q=0.5'].includes(accepted)
      assert.equal(answer.headers.get('content-encoding'), isSmall ? 'br' : null, accepted)
      assert.equal(await answer.text(), SCRIPT)
    }
    const head = await ask(path, { 'accept-encoding': 'identity' }, 'HEAD')
    assert.deepEqual([head.headers.get('content-length'), await head.text()], [String(SCRIPT.length), ''])
  })

  it('is nothing but the files that were there, whatever is asked for', async () => {
    for (const path of [
      '/assets/nothing.js',
      '/assets/..%2findex.html',
      '/assets/index-Ab3_-x9Z.js.br',
      '/index.html',
    ])
      assert.notEqual((await ask(path, {})).status, 200, path)
    const wrong = await ask('/assets/theme.js', {}, 'POST')
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD'])
  })

  it('is where the address that git clones from leads a person', async () => {
    for (const path of ['/git/acme/widgets.git', '/git/acme/widgets', '/git/acme/widgets.git/'])
      assert.deepEqual(
        [(await ask(path)).status, (await ask(path)).headers.get('location')],
        [303, '/acme/widgets'],
      )
    assert.equal((await ask('/git/admin/widgets.git')).headers.get('location'), '/o/admin/widgets')
    // Where a page of the organization is there is no room for a repository.
    assert.equal((await ask('/git/acme/people.git')).headers.get('location'), '/acme/-/people')
    assert.equal((await ask('/git/admin/settings')).headers.get('location'), '/o/admin/-/settings')
    assert.equal((await ask('/git/acme/widgets.git', { accept: '*/*' })).status, 401)
    assert.equal((await ask('/git/acme/widgets.git/info/refs?service=git-upload-pack')).status, 401)
  })

  it('has room for the words of the server beside organizations', async () => {
    const sources = await Array.fromAsync(glob(join(import.meta.dirname, '../**/*.ts')))
    const words = sources
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => [
        ...readFileSync(file, 'utf8').matchAll(/(?:GET |POST |(?:PATH|PREFIX) = ')\/([a-z0-9-]+)[/'`]/g),
      ])
      .map(([, word]) => word ?? '')
    assert.ok(words.includes('login') && words.includes('invites') && words.includes('git'))
    assert.deepEqual(
      words.filter((word) => !RESERVED_SLUGS.has(word)),
      [],
    )
    const ana = await app.signUp('ana')
    const answer = await app.call('orgs/create', { slug: 'settings' }, { token: ana.token })
    assert.deepEqual([answer.status, answer.body.code], [409, 'ORG_SLUG_TAKEN'])
    const renamed = await app.call('orgs/update', { orgSlug: ana.slug, slug: 'api' }, { token: ana.token })
    assert.deepEqual([renamed.status, renamed.body.code], [409, 'ORG_SLUG_TAKEN'])
    assert.match((await app.signUp('admin')).slug, /^admin-\d+$/)
  })

  it('knows every page of an organization, so that a repository called like it is elsewhere', () => {
    const routes = join(import.meta.dirname, '../../../../console/src/routes/organization.ts')
    const pages = [...readFileSync(routes, 'utf8').matchAll(/=> orgPages,\n\s+path: '\/~\/([a-z]+)'/g)]
    assert.deepEqual(pages.map(([, page]) => page).toSorted(), [...ORG_PAGES].toSorted())
  })

  it('is not there where it has not been built, and the operator is told how', async () => {
    await using database = await createSqlite()
    await using other = await startTestApp(
      database,
      {},
      { consoleDirectory: join(tmpdir(), 'nothing-of-the-kind') },
    )
    const first = await fetch(other.url, { headers: asBrowser, redirect: 'manual' })
    assert.equal(first.headers.get('location'), '/reference')
    const elsewhere = await fetch(`${other.url}/acme`, { headers: asBrowser })
    assert.deepEqual([elsewhere.status, /There is nothing here/.test(await elsewhere.text())], [404, true])
    assert.match(other.logged(), /npm run build/)
  })
})
