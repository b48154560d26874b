import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startReceiver } from '../testing/receiver.ts'
import { createTransport } from '../webhooks/transport.ts'
import { createEgress, EgressRefused, type Resolve } from './egress.ts'

const answers =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const judge = (url: string, allow: string[] = [], resolve: Resolve = answers('93.184.216.34')) =>
  createEgress(allow, resolve).judge(new URL(url))

describe('egress', () => {
  it('gives the address that was judged', async () => {
    assert.equal((await judge('https://example.com/')).address, '93.184.216.34')
    assert.equal((await judge('https://[2606:4700::1]/')).address, '2606:4700::1')
  })

  it('refuses a name as soon as one of its addresses is not public', async () => {
    for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:10.0.0.1', '::7f00:1'])
      await assert.rejects(
        judge('https://example.com/', [], answers('93.184.216.34', address)),
        EgressRefused,
      )
    await assert.rejects(judge('https://example.com/', [], answers()), EgressRefused)
    await assert.rejects(judge('https://example.com/', [], answers('not an address')), EgressRefused)
  })

  it('lets through what the operator trusts: a host wherever it is, a range whoever asks for it', async () => {
    const inside = answers('10.1.2.3')
    assert.equal((await judge('http://ci.internal/', ['CI.internal'], inside)).address, '10.1.2.3')
    assert.equal((await judge('http://ci.internal/', ['10.0.0.0/8'], inside)).address, '10.1.2.3')
    await assert.rejects(judge('http://other.internal/', ['ci.internal'], inside), EgressRefused)
    await assert.rejects(judge('http://other.internal/', ['10.2.0.0/16'], inside), EgressRefused)
    await assert.rejects(judge('http://ci.internal.evil.example/', ['ci.internal'], inside), EgressRefused)
  })

  it('connects to no address but the one it judges then, whatever the name meant before', async () => {
    const receiver = await startReceiver()
    const { port } = new URL(receiver.url)
    let meaning = ['93.184.216.34']
    const egress = createEgress([], (host) => answers(...meaning)(host))
    const transport = createTransport({ egress, timeoutMs: 5000 })
    const url = `http://rebound.example:${port}/`
    await egress.judge(new URL(url))
    for (meaning of [['127.0.0.1'], ['::ffff:127.0.0.1'], ['0.0.0.0'], ['93.184.216.34', '127.0.0.1']]) {
      const attempt = await transport.post({ url, headers: {}, body: '{}' }, new AbortController().signal)
      assert.equal(attempt.error, 'the address is not a public one')
    }
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:7f00:1]']) {
      const post = { url: `http://${host}:${port}/`, headers: {}, body: '{}' }
      const attempt = await transport.post(post, new AbortController().signal)
      assert.equal(attempt.error, 'the address is not a public one')
    }
    assert.deepEqual(receiver.received, [])
    await transport.close()
    await receiver.close()
  })

  it('connects to a trusted name at the address it has', async () => {
    const receiver = await startReceiver()
    const { port } = new URL(receiver.url)
    const egress = createEgress(['ci.internal'], answers('127.0.0.1'))
    const transport = createTransport({ egress, timeoutMs: 5000 })
    const url = `http://ci.internal:${port}/hook`
    const attempt = await transport.post({ url, headers: {}, body: '{}' }, new AbortController().signal)
    assert.deepEqual([attempt.status, attempt.error], [200, null])
    assert.equal(receiver.received[0]?.headers.host, `ci.internal:${port}`)
    await transport.close()
    await receiver.close()
  })
})
