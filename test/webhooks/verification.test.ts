import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { onEachDatabase, type Person, type Received, useApp, useReceiver } from '@trellis/server/testing'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const DAY_MS = 86_400_000

/** As docs/webhooks.md tells receivers to do it. */
const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret.replace(/^webhsec_/, '')).verify(body, headers as Record<string, string>)

onEachDatabase('a receiver with the standardwebhooks package', (create) => {
  const app = useApp(create, { TRELLIS_EGRESS_ALLOW: '127.0.0.0/8' })
  const receiver = useReceiver()
  let ada: Person

  before(async () => {
    ada = await app.signUp('ada')
    await app.client(ada.token).repos.create({ name: 'signed' })
  })

  const client = () => app.client(ada.token)

  /** Makes something happen and gives the request that tells of it. */
  async function next(): Promise<Received> {
    const before = receiver.received.length
    await client().repos.update({ name: 'signed', readOnly: false })
    const all = await receiver.until((received) => received.length > before)
    return all.at(-1) as Received
  }

  it('verifies every delivery, during a rotation with either secret, and afterwards with the new one', async () => {
    const { secret: first } = await client().webhooks.create({
      name: 'signed',
      webhook: 'ci',
      url: receiver.url,
      on: { event: { types: ['repo.updated'] } },
    })
    const delivered = await next()
    assert.equal((verify(first, delivered) as { type: string }).type, 'repo.updated')
    assert.throws(() => verify(first, { ...delivered, body: `${delivered.body} ` }), WebhookVerificationError)
    assert.throws(() => verify(`webhsec_${Buffer.alloc(32).toString('base64')}`, delivered))

    const rotate = () => client().webhooks.secret({ name: 'signed', webhook: 'ci' })
    const second = await rotate()
    assert.equal(second.previousSecret, first)
    const during = await next()
    verify(first, during)
    verify(second.secret, during)
    assert.equal(during.headers['webhook-signature']?.toString().split(' ').length, 2)

    // Rotated again within the day: each of the old ones has a day of its own.
    const third = await rotate()
    assert.equal(third.previousSecret, second.secret)
    const both = await next()
    for (const secret of [first, second.secret, third.secret]) verify(secret, both)

    app.pass(DAY_MS + 1000)
    const later = await next()
    // The package refuses what is a day old by its own clock, and ours has been turned.
    const now = { ...later, headers: resigned(later, third.secret) }
    verify(third.secret, now)
    assert.equal(later.headers['webhook-signature'], now.headers['webhook-signature-then'])
  })

  /** The headers a delivery would have now, and the signature it should have had when it was sent. */
  function resigned({ body, headers }: Received, secret: string): Record<string, string> {
    const id = String(headers['webhook-id'])
    const webhook = new Webhook(secret.replace(/^webhsec_/, ''))
    const then = new Date(Number(headers['webhook-timestamp']) * 1000)
    const now = new Date()
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': webhook.sign(id, now, body),
      'webhook-signature-then': webhook.sign(id, then, body),
    }
  }
})
