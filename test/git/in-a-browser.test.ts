// A git client in a page of another origin, as isomorphic-git is used: what browsers ask for before, and let through.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createSqlite, useInSuite } from '@trellis/server/testing'
import { build } from 'esbuild'
import { launchBrowser, noBrowserHere } from '../access/browser.ts'
import type { CloneAndPush } from './clients/page.ts'
import { startHost } from './harness.ts'

declare const cloneAndPush: CloneAndPush

/** A page that has the client in it. */
async function makePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'clients/page.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
  })
  return `<script>${outputFiles[0]?.text.replaceAll('</', '<\\/')}</script>`
}

describe('a git client in a page', { skip: noBrowserHere, timeout: 300_000 }, () => {
  const made = useInSuite(async (stack) => {
    const page = await makePage()
    const server = createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page),
    )
    stack.defer(() => server.close().closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const allowed = `http://127.0.0.1:${port}`
    const host = stack.use(await startHost(createSqlite, { TRELLIS_CORS_ORIGINS: allowed }))
    const browser = await launchBrowser()
    stack.defer(() => browser.close())
    return { host, browser, allowed, another: `http://localhost:${port}` }
  })

  async function visit(origin: string, url: string, password: string) {
    const page = await made.browser.newPage()
    page.setDefaultTimeout(60_000)
    await page.goto(origin)
    return page.evaluate(([url, password]) => cloneAndPush(url, password), [url, password] as const)
  }

  it('clones and pushes from an origin that may', async () => {
    const { host } = made
    const { client, url } = await host.filled('page')
    const { cloned, pushed } = await visit(made.allowed, url, host.owner.token)
    assert.equal(cloned, await client.rev('main'))
    assert.equal((await host.refs('page'))['refs/heads/main'], pushed)
    await client.run('fetch', '-q', url, 'main')
    assert.equal(await client.run('show', 'FETCH_HEAD:page.txt'), 'from a page')
  })

  it('is told that its credential is wrong, and gets nothing from another origin', async () => {
    const { host } = made
    const { url } = await host.filled('closed')
    await assert.rejects(visit(made.allowed, url, 'trk_wrong'), /401|credential/i)
    await assert.rejects(visit(made.another, url, host.owner.token), /Failed to fetch/)
  })
})
