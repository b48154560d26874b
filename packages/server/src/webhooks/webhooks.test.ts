import assert from 'node:assert/strict'
import { afterEach, before, it } from 'node:test'
import type { NewWebhook, Webhook, WebhookDeliveryDetail } from '@trellis/contract'
import {
  answerWith,
  assertFault,
  assertInvalid,
  assertNotThere,
  expectEvents,
  onEachDatabase,
  type Person,
  useApp,
  useReceiver,
} from '../testing/index.ts'

const DAY_MS = 86_400_000
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000'

onEachDatabase('webhooks', (create) => {
  const app = useApp(create, {
    TRELLIS_EGRESS_ALLOW: '127.0.0.1',
    TRELLIS_REPO_MAX_WEBHOOKS: '3',
  })
  const receiver = useReceiver()
  let ada: Person
  let made = 0

  before(async () => {
    ada = await app.signUp('ada')
  })
  afterEach(() => {
    receiver.answer = answerWith(200)
  })

  const client = () => app.client(ada.token)
  const asAda = () => ({ token: ada.token })

  /** A repository with one webhook, which hears of everything from then on. */
  async function hooked(more: object = {}): Promise<{ name: string; webhook: string; hook: NewWebhook }> {
    const name = `repo-${++made}`
    await client().repos.create({ name })
    const hook = await client().webhooks.create({
      name,
      webhook: 'ci',
      url: `${receiver.url}/${name}`,
      ...more,
    })
    return { name, webhook: 'ci', hook }
  }

  const touch = (name: string) => client().repos.update({ name, readOnly: false })
  const heard = (name: string) => receiver.received.filter(({ path }) => path === `/${name}`)
  const whenHeard = (name: string, count: number) =>
    receiver.until((all) => all.filter(({ path }) => path === `/${name}`).length >= count)

  async function deliveries(name: string): Promise<WebhookDeliveryDetail[]> {
    return (await client().webhooks.deliveries.list({ name })).items
  }
  /** Waits until every delivery is as `settled` says. */
  async function whenAll(
    name: string,
    settled: (delivery: WebhookDeliveryDetail) => boolean,
  ): Promise<WebhookDeliveryDetail[]> {
    for (;;) {
      const all = await deliveries(name)
      if (all.length > 0 && all.every(settled)) return all
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const ended = ({ status }: WebhookDeliveryDetail) => status !== 'pending'
  const tried =
    (attempts: number) =>
    ({ attempt }: WebhookDeliveryDetail) =>
      attempt >= attempts

  it('shows the secret once, and afterwards only how it begins', async () => {
    const { name, hook } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    const { secret, ...shown } = hook
    assert.match(secret, /^webhsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual(shown, {
      name: 'ci',
      url: `${receiver.url}/${name}`,
      on: { event: { types: ['repo.updated'] } },
      contentType: 'application/json',
      hasPayload: false,
      moduleHash: null,
      id: shown.id,
      repoId: shown.repoId,
      secretPrefix: secret.slice(0, 12),
      active: true,
      status: 'active',
      createdAt: shown.createdAt,
      updatedAt: shown.createdAt,
    } satisfies Webhook)
    assert.deepEqual(await client().webhooks.get({ name, webhook: 'ci' }), shown)
    assert.deepEqual(await client().webhooks.list({ name }), { items: [shown], nextCursor: null })
    const rows = JSON.stringify(await app.database.db.selectFrom('webhooks').selectAll().execute())
    assert.ok(!rows.includes(secret) && !rows.includes(secret.slice(12)))
    assert.ok(!app.logged().includes(secret))
  })

  it('delivers an event whole, and keeps what was sent and answered', async () => {
    receiver.answer = answerWith(202, 'thank you')
    const { name, hook } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await touch(name)
    await whenHeard(name, 1)
    const [delivery] = await whenAll(name, ended)
    const [request] = heard(name)
    const { items } = await client().events.list({ name, types: ['repo.updated'] })
    const [event] = items
    assert.ok(delivery && request && event)
    const { credentialId: _, ...told } = event
    assert.deepEqual(JSON.parse(request.body), {
      ...told,
      cause: null,
      repo: { id: hook.repoId, name, owner: ada.slug },
    })
    assert.equal(request.headers['content-type'], 'application/json')
    assert.equal(request.headers['webhook-id'], delivery.id)
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(request.body))
    assert.deepEqual(delivery, {
      id: delivery.id,
      webhookId: hook.id,
      webhookName: 'ci',
      eventType: 'repo.updated',
      subject: name,
      requestBodyDigest: `sha256:${Buffer.from(digest).toString('hex')}`,
      requestBodyTruncated: request.body,
      responseStatus: 202,
      responseBodyTruncated: 'thank you',
      durationMs: delivery.durationMs,
      attempt: 1,
      status: 'success',
      createdAt: delivery.createdAt,
      deliveredAt: delivery.deliveredAt,
      error: null,
      nextAttemptAt: null,
    } satisfies WebhookDeliveryDetail)
    assert.ok(delivery.deliveredAt && delivery.deliveredAt >= delivery.createdAt)
    assert.deepEqual(await client().webhooks.deliveries.get({ name, deliveryId: delivery.id }), delivery)
  })

  it('hears of everything when it names nothing, its own creation first', async () => {
    const { name } = await hooked()
    await touch(name)
    await client().tokens.create({ name })
    await whenHeard(name, 3)
    const bodies = heard(name).map(({ body }) => JSON.parse(body))
    assert.deepEqual(
      bodies.map(({ type, seq }) => [seq, type]),
      [
        [2, 'webhook.created'],
        [3, 'repo.updated'],
        [4, 'token.created'],
      ],
    )
  })

  it('hears of pushes to the branches and paths it names', async () => {
    const { name } = await hooked({ on: { push: { branches: ['main'], paths: ['src/**'] } } })
    const commit = (branch: string, path: string) =>
      client().git.commits.create({
        name,
        branch,
        message: 'Change something',
        changes: [{ op: 'put', path, content: `${branch} ${path} ${++made}` }],
      })
    await commit('main', 'README.md')
    await commit('main', 'src/a.ts')
    await commit('main', 'docs/b.md')
    await commit('main', 'src/deep/c.ts')
    await whenHeard(name, 2)
    await whenAll(name, ended)
    const bodies = heard(name).map(({ body }) => JSON.parse(body))
    assert.deepEqual(
      bodies.map(({ type, subject, payload }) => [type, subject, payload.paths]),
      [
        ['git.push', 'refs/heads/main', ['src/a.ts']],
        ['git.push', 'refs/heads/main', ['src/deep/c.ts']],
      ],
    )
  })

  it('keeps the order of a burst', async () => {
    const { name } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await Promise.all(Array.from({ length: 60 }, () => touch(name)))
    await whenHeard(name, 60)
    const seqs = heard(name).map(({ body }) => JSON.parse(body).seq)
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    )
  })

  it('tries again on the schedule, and fails for good after the last attempt', async () => {
    receiver.answer = answerWith(500, 'no')
    const { name } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await touch(name)
    const delays = [5, 300, 1800, 7200, 18_000, 36_000, 36_000]
    for (const [i, seconds] of delays.entries()) {
      const [delivery] = await whenAll(name, tried(i + 1))
      assert.ok(delivery?.nextAttemptAt && delivery.status === 'pending')
      const wait = delivery.nextAttemptAt - app.now()
      assert.ok(wait <= seconds * 1100 && wait > seconds * 900 - 5_000, `${wait} ms instead of ${seconds} s`)
      app.pass(seconds * 1100)
    }
    const [delivery] = await whenAll(name, ended)
    assert.ok(delivery)
    assert.deepEqual(
      [delivery.status, delivery.attempt, delivery.responseStatus, delivery.responseBodyTruncated],
      ['failed', 8, 500, 'no'],
    )
    assert.deepEqual([delivery.nextAttemptAt, delivery.deliveredAt], [null, null])
    assert.equal(heard(name).length, 8)
    assert.equal(new Set(heard(name).map(({ headers }) => headers['webhook-id'])).size, 1)
    assert.equal((await client().webhooks.get({ name, webhook: 'ci' })).active, true)
  })

  it('takes a redirect for a failure, and does not follow it', async () => {
    receiver.answer = answerWith(302, '', { location: `${receiver.url}/elsewhere` })
    const { name } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await touch(name)
    const [delivery] = await whenAll(name, tried(1))
    assert.deepEqual([delivery?.status, delivery?.responseStatus], ['pending', 302])
    assert.equal(receiver.received.filter(({ path }) => path === '/elsewhere').length, 0)
  })

  it('stops at 410, drops what is pending and says so', async () => {
    const { name, hook } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    receiver.answer = answerWith(500)
    await touch(name)
    await whenAll(name, tried(1))
    receiver.answer = answerWith(410)
    await touch(name)
    const all = await whenAll(name, ended)
    assert.deepEqual(
      all.map(({ status, responseStatus }) => [status, responseStatus]),
      [
        ['failed', 410],
        ['dropped', 500],
      ],
    )
    assert.equal((await client().webhooks.get({ name, webhook: 'ci' })).active, false)
    const { items } = await client().events.list({ name, types: ['webhook.disabled'] })
    assert.deepEqual(items[0]?.payload, { webhookId: hook.id, name: 'ci', reason: 'gone' })
    assert.deepEqual(items[0]?.actor, { kind: 'system', id: 'trellis' })
  })

  it('gives up after five days without a success', async () => {
    receiver.answer = answerWith(503)
    const { name, hook } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await touch(name)
    await whenAll(name, tried(1))
    app.pass(4 * DAY_MS)
    await whenAll(name, tried(2))
    assert.equal((await client().webhooks.get({ name, webhook: 'ci' })).active, true)
    app.pass(DAY_MS + 1)
    await whenAll(name, ended)
    assert.equal((await client().webhooks.get({ name, webhook: 'ci' })).active, false)
    const { items } = await client().events.list({ name, types: ['webhook.disabled'] })
    assert.deepEqual(items[0]?.payload, { webhookId: hook.id, name: 'ci', reason: 'failing' })

    // Switched on again it has five new days.
    await client().webhooks.enable({ name, webhook: 'ci' })
    await touch(name)
    for (let left = true; left; ) left = (await deliveries(name)).some(({ attempt }) => attempt === 0)
    assert.equal((await client().webhooks.get({ name, webhook: 'ci' })).active, true)
  })

  it('drops what is pending when it is disabled, and hears nothing until it is enabled', async () => {
    receiver.answer = answerWith(500)
    const { name, webhook } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await touch(name)
    await whenAll(name, tried(1))
    const disabled = await expectEvents(app, ['webhook.disabled ci'], () =>
      client().webhooks.disable({ name, webhook }),
    )
    assert.deepEqual([disabled.active, disabled.status], [false, 'active'])
    await expectEvents(app, [], () => client().webhooks.disable({ name, webhook }))
    assert.deepEqual(
      (await deliveries(name)).map(({ status }) => status),
      ['dropped'],
    )
    await touch(name)
    assert.equal((await deliveries(name)).length, 1)
    await expectEvents(app, ['webhook.enabled ci'], () => client().webhooks.enable({ name, webhook }))
    await expectEvents(app, [], () => client().webhooks.enable({ name, webhook }))
    receiver.answer = answerWith(200)
    await touch(name)
    const all = await whenAll(name, ended)
    assert.deepEqual(
      all.map(({ status }) => status),
      ['success', 'dropped'],
    )
  })

  it('delivers the same body once more when asked to', async () => {
    const { name, webhook } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await touch(name)
    const [first] = await whenAll(name, ended)
    assert.ok(first)
    const again = await expectEvents(app, [], () =>
      client().webhooks.redeliver({ name, deliveryId: first.id }),
    )
    assert.deepEqual([again.status, again.attempt, again.webhookId], ['pending', 0, first.webhookId])
    assert.notEqual(again.id, first.id)
    await whenHeard(name, 2)
    await whenAll(name, ended)
    const [one, two] = heard(name)
    assert.equal(one?.body, two?.body)
    assert.equal(two?.headers['webhook-id'], again.id)

    // Off, it is tried when somebody asks, and then once.
    await client().webhooks.disable({ name, webhook })
    receiver.answer = answerWith(500)
    const third = await client().webhooks.redeliver({ name, deliveryId: first.id })
    await whenHeard(name, 3)
    const all = await whenAll(name, ended)
    assert.equal(all.find(({ id }) => id === third.id)?.status, 'failed')
  })

  it('refuses to redeliver what is pending, or not there', async () => {
    receiver.answer = answerWith(500)
    const { name } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await touch(name)
    const [delivery] = await whenAll(name, tried(1))
    const id = delivery?.id ?? ''
    const redeliver = (input: object) => app.call('webhooks/redeliver', input, asAda())
    assertFault(await redeliver({ name, deliveryId: id }), 'WEBHOOK_DELIVERY_NOT_TERMINAL', { id })
    assertFault(await redeliver({ name, deliveryId: UNKNOWN_ID }), 'WEBHOOK_DELIVERY_NOT_FOUND', {
      id: UNKNOWN_ID,
    })
    assertFault(
      await app.call('webhooks/deliveries/get', { name, deliveryId: UNKNOWN_ID }, asAda()),
      'WEBHOOK_DELIVERY_NOT_FOUND',
      { id: UNKNOWN_ID },
    )
    assertInvalid(await redeliver({ name, deliveryId: 'garbage' }), ['deliveryId'])
    const other = await hooked()
    assertFault(await redeliver({ name: other.name, deliveryId: id }), 'WEBHOOK_DELIVERY_NOT_FOUND', { id })
    assertFault(await redeliver({ name: 'nowhere', deliveryId: id }), 'REPO_NOT_FOUND', { name: 'nowhere' })
  })

  it('answers for a webhook that is not there, and for a name that is taken', async () => {
    const { name, webhook } = await hooked()
    for (const operation of ['get', 'update', 'enable', 'disable', 'delete', 'secret', 'deliveries/list'])
      assertNotThere(
        await app.call(`webhooks/${operation}`, { name, webhook: 'none' }, asAda()),
        'WEBHOOK_NOT_FOUND',
      )
    const url = receiver.url
    assertInvalid(await app.call('webhooks/create', { name, webhook, url }, asAda()), ['webhook'])
    for (const n of [2, 3]) await client().webhooks.create({ name, webhook: `ci-${n}`, url })
    assertFault(
      await app.call('webhooks/create', { name, webhook: 'ci-4', url }, asAda()),
      'QUOTA_EXCEEDED',
      {
        scope: 'org',
        limit: 3,
        observed: 3,
      },
    )
    const first = await client().webhooks.list({ name, limit: 2 })
    const second = await client().webhooks.list({ name, limit: 2, cursor: first.nextCursor ?? '' })
    assert.deepEqual(
      [first.items.map((hook) => hook.name), second.items.map((hook) => hook.name), second.nextCursor],
      [['ci', 'ci-2'], ['ci-3'], null],
    )
  })

  it('says everything that is wrong with an input at its place', async () => {
    const { name } = await hooked()
    const ask = (input: object) =>
      app.call('webhooks/create', { name, webhook: 'new', url: receiver.url, ...input }, asAda())
    for (const url of ['nonsense', 'ftp://example.com', 'file:///etc/passwd', 'http://u:p@example.com/'])
      assertInvalid(await ask({ url }), ['url'])
    for (const contentType of ['text/plain', 'application/json\r\nx: y', 7])
      assertInvalid(await ask({ contentType }), ['contentType'])
    assertInvalid(await ask({ on: { event: { types: [] } } }), ['on', 'event', 'types'])
    assertInvalid(await ask({ on: { event: { types: Array(33).fill('a') } } }), ['on', 'event', 'types'])
    assertInvalid(await ask({ on: { push: { branches: ['ok', '(a+)+'] } } }), ['on', 'push', 'branches', 1])
    assertInvalid(await ask({ on: { push: { paths: ['a\\b'] } } }), ['on', 'push', 'paths', 0])
    assertInvalid(await ask({ on: { event: { types: ['a'], subject: '(x)' } } }), ['on', 'event', 'subject'])
  })

  it('changes where it delivers to and what it listens to', async () => {
    const { name, webhook, hook } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    const updated = await expectEvents(app, ['webhook.updated ci'], () =>
      client().webhooks.update({
        name,
        webhook,
        url: `${receiver.url}/moved`,
        on: { event: { types: ['token.*'] } },
        contentType: 'application/vnd.acme+json',
      }),
    )
    assert.deepEqual([updated.id, updated.secretPrefix], [hook.id, hook.secretPrefix])
    await touch(name)
    await client().tokens.create({ name })
    const all = await receiver.until((received) => received.some(({ path }) => path === '/moved'))
    const moved = all.filter(({ path }) => path === '/moved')
    assert.deepEqual(
      moved.map(({ body, headers }) => [JSON.parse(body).type, headers['content-type']]),
      [['token.created', 'application/vnd.acme+json']],
    )
  })

  it('goes with its deliveries when it is deleted', async () => {
    receiver.answer = answerWith(500)
    const { name, webhook } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await touch(name)
    await whenAll(name, tried(1))
    assert.deepEqual(
      await expectEvents(app, ['webhook.deleted ci'], () => client().webhooks.delete({ name, webhook })),
      { deleted: true },
    )
    assert.deepEqual(await deliveries(name), [])
    await client().webhooks.create({ name, webhook, url: receiver.url })
  })

  it('is told of the end of its repository, and again until it hears', async () => {
    receiver.answer = answerWith(500)
    const { name, hook } = await hooked({ on: { event: { types: ['repo.*'] } } })
    await client().repos.delete({ name })
    await whenHeard(name, 1)
    // A new repository of the same name is another one, and its webhooks are others.
    await client().repos.create({ name })
    assert.deepEqual((await client().webhooks.list({ name })).items, [])
    receiver.answer = answerWith(200)
    app.pass(6_000)
    await whenHeard(name, 2)
    const [, last] = heard(name)
    const { type, repo } = JSON.parse(last?.body ?? '')
    assert.deepEqual([type, repo], ['repo.deleted', { id: hook.repoId, name, owner: ada.slug }])
  })

  it('gives a secret that nobody has seen as it is, and rotates one that somebody has', async () => {
    const { name, webhook, hook } = await hooked()
    await app.database.transact((tx) =>
      tx.updateTable('webhooks').set({ secret_shown: 0 }).where('id', '=', hook.id).execute(),
    )
    assert.deepEqual(await expectEvents(app, [], () => client().webhooks.secret({ name, webhook })), {
      secret: hook.secret,
    })
    const before = app.now()
    const rotated = await expectEvents(app, ['webhook.secret.rotated ci'], () =>
      client().webhooks.secret({ name, webhook }),
    )
    assert.notEqual(rotated.secret, hook.secret)
    assert.equal(rotated.previousSecret, hook.secret)
    const retiresAt = rotated.previousSecretRetiresAt ?? 0
    assert.ok(retiresAt >= before + DAY_MS && retiresAt <= app.now() + DAY_MS)
    assert.equal((await client().webhooks.get({ name, webhook })).secretPrefix, rotated.secret.slice(0, 12))
  })

  it('lists deliveries of one webhook, by status, page by page', async () => {
    const { name } = await hooked({ on: { event: { types: ['repo.updated'] } } })
    await client().webhooks.create({
      name,
      webhook: 'other',
      url: `${receiver.url}/other`,
      on: { event: { types: ['repo.updated'] } },
    })
    for (let i = 0; i < 3; i++) await touch(name)
    await whenAll(name, ended)
    const list = (input: object) => client().webhooks.deliveries.list({ name, ...input })
    assert.equal((await list({})).items.length, 6)
    const first = await list({ webhook: 'other', limit: 2 })
    const second = await list({ webhook: 'other', limit: 2, cursor: first.nextCursor ?? '' })
    const names = [...first.items, ...second.items].map(({ webhookName }) => webhookName)
    assert.deepEqual([names, second.nextCursor], [['other', 'other', 'other'], null])
    assert.equal((await list({ status: 'failed' })).items.length, 0)
    assert.equal((await list({ status: 'success' })).items.length, 6)
  })
})
