import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Call, isGranted, makeContext } from './context.ts'
import { errorFromWire } from './errors.ts'
import type { WireRequest, WireResponse } from './fetching.ts'

type Given = { fetch?: typeof fetch } & {
  readonly [part in 'repo' | 'records' | 'run' | 'secrets']?: Record<string, (...args: unknown[]) => unknown>
}

const context = (capabilities: string[], call: Call = async () => null) =>
  makeContext({
    call,
    log: () => {},
    capabilities,
    run: { id: 'run_1', repo: { name: 'site' } },
    secrets: { TOKEN: 'secret' },
    signal: new AbortController().signal,
  }) as unknown as Given

describe('what a module is given', () => {
  it('has each method by its own capability, and nothing else', () => {
    assert.deepEqual(Object.keys(context([])).toSorted(), ['log', 'run', 'signal'])
    assert.deepEqual(context(['secret:TOKEN', 'secret:UNSET']).secrets, { TOKEN: 'secret' })
    assert.deepEqual(Object.keys(context(['repo:write']).repo ?? {}).toSorted(), [
      'commit',
      'createBranch',
      'createTag',
      'deleteBranch',
      'merge',
    ])
    const records = Object.keys(context(['records:read', 'records:write']).records ?? {})
    assert.deepEqual(records.toSorted(), ['create', 'delete', 'get', 'list', 'update'])
    assert.equal(typeof context(['net:example.com']).fetch, 'function')
    assert.ok(isGranted('repo.list', ['repo:read']) && isGranted('fetch', ['net:*.example.com']))
    assert.ok(!isGranted('repo.commit', ['repo:read']) && !isGranted('toString', ['repo:read']))
  })

  it('asks the host by name, and gives bytes for base64', async () => {
    const asked: unknown[] = []
    const ctx = context(['repo:read'], async (method, args) => {
      asked.push([method, ...args])
      return method === 'repo.readBytes' ? 'AAH/' : null
    })
    assert.deepEqual(await ctx.repo?.readBytes?.('logo.png', { ref: 'main' }), new Uint8Array([0, 1, 255]))
    assert.equal(await ctx.repo?.readText?.('README.md'), null)
    assert.deepEqual(asked, [
      ['repo.readBytes', 'logo.png', { ref: 'main' }],
      ['repo.readText', 'README.md'],
    ])
  })

  it('passes on what the host refuses, with its code and data', async () => {
    const ctx = context(['records:write'], async () => {
      throw errorFromWire({ message: 'stale', code: 'RECORD_REVISION_CONFLICT', data: { revision: 3 } })
    })
    await assert.rejects(async () => ctx.records?.update?.('task', 'rec_1', {}), {
      code: 'RECORD_REVISION_CONFLICT',
      data: { revision: 3 },
    })
  })

  it('cannot be changed', () => {
    const ctx = context(['repo:read'])
    for (const part of [ctx, ctx.repo, ctx.run, ctx.run?.repo, ctx.secrets]) assert.ok(Object.isFrozen(part))
  })
})

describe('fetch', () => {
  const answer: Omit<WireResponse, 'status'> = {
    statusText: 'Fine',
    headers: [['x-a', '1']],
    redirected: true,
    url: 'https://b.example/',
  }

  it('takes what Fetch takes and gives a response', async () => {
    const sent: WireRequest[] = []
    const ctx = context(['net:a.example'], async (_method, [request]) => {
      sent.push(request as WireRequest)
      return { ...answer, status: 201, body: btoa('{"ok":true}') }
    })
    const response = await ctx.fetch?.(new Request('https://a.example/x'), {
      method: 'POST',
      headers: { 'x-b': '2' },
      body: 'héllo',
    })
    assert.equal(sent[0]?.url, 'https://a.example/x')
    assert.equal(Buffer.from(sent[0]?.body ?? '', 'base64').toString(), 'héllo')
    assert.ok(sent[0]?.headers.some(([name, value]) => name === 'x-b' && value === '2'))
    assert.ok(response instanceof Response)
    assert.deepEqual(
      [response.status, response.headers.get('x-a'), response.url, response.redirected],
      [201, '1', 'https://b.example/', true],
    )
    assert.deepEqual(await response.json(), { ok: true })
  })

  it('asks to be told of a redirect as an error, which is the one that Fetch throws', async () => {
    const ctx = context(['net:a.example'], async (_method, [request]) => {
      const { redirect } = request as WireRequest
      throw Object.assign(new Error(`fetch failed: ${redirect}`), { code: 'FETCH_FAILED', data: null })
    })
    await assert.rejects(
      async () => ctx.fetch?.('https://a.example/', { redirect: 'error' }),
      (error) => error instanceof TypeError && error.message === 'fetch failed: error',
    )
  })

  it('gives no body where there is none, and stops waiting when told to', async () => {
    const empty = context(['net:a.example'], async () => ({ ...answer, status: 204, body: '' }))
    assert.equal((await empty.fetch?.('https://a.example/'))?.body, null)
    const slow = context(['net:a.example'], () => new Promise(() => {}))
    const stop = new AbortController()
    const waiting = slow.fetch?.('https://a.example/', { signal: stop.signal })
    queueMicrotask(() => stop.abort(new Error('enough')))
    await assert.rejects(async () => waiting, { message: 'enough' })
  })
})
