import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { createSqlite, useApp } from '../../testing/index.ts'

const SECRET = 'a'.repeat(36)

describe('what goes wrong', () => {
  const app = useApp(createSqlite)

  async function ask(path: string, accept: string, method = 'GET') {
    const response = await fetch(`${app.url}${path}`, { method, headers: { accept } })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  it('is a page for a browser and the envelope for a program', async () => {
    const page = await ask('/assets/nowhere', 'text/html,application/xhtml+xml,*/*;q=0.8')
    assert.equal(page.status, 404)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.match(page.text, /<h1>There is nothing here<\/h1>/)
    const json = await ask('/assets/nowhere', '*/*')
    assert.equal(json.status, 404)
    assert.equal(JSON.parse(json.text).code, 'NOT_FOUND')
  })

  it('says on a page which methods there are', async () => {
    const page = await ask('/limits', 'text/html', 'DELETE')
    assert.deepEqual([page.status, page.headers.get('allow')], [405, 'GET, HEAD'])
    assert.match(page.text, /^<!doctype html>/)
  })

  it('of a form that did not come from here is told on a page', async () => {
    const page = await ask('/login', 'text/html', 'POST')
    assert.equal(page.status, 403)
    assert.match(page.text, /Open the page again/)
  })

  it('names the request and no detail when nobody foresaw it, and escapes what was asked for', async () => {
    await sql`alter table invites rename to invites_elsewhere`.execute(app.database.db)
    try {
      const page = await ask(`/invites/${SECRET}`, 'text/html')
      assert.equal(page.status, 500)
      assert.match(page.text, /<h1>Something went wrong<\/h1>/)
      assert.ok(page.text.includes(page.headers.get('x-request-id') ?? 'nothing'))
      assert.doesNotMatch(page.text, /invites_elsewhere|no such table|<script>/)
      assert.doesNotMatch(app.logged(), new RegExp(SECRET))
    } finally {
      await sql`alter table invites_elsewhere rename to invites`.execute(app.database.db)
    }
  })
})
