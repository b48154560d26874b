import { setTimeout as sleep } from 'node:timers/promises'
import { answerWith } from '@trellis/server/testing'
import type { Teller } from './teller.ts'

/** Webhooks that hear of all that comes. One of them is told never to come again. */
export async function installWebhooks({ ok, acme, receiver, told }: Teller): Promise<void> {
  const install = async (name: string, webhook: string, on: object = {}) => {
    const url = `${receiver.url}/${webhook}`
    const { secret } = await ok('webhooks/create', { name, webhook, url, on }, acme())
    told.webhooks.push({ name: webhook, secrets: [secret] })
  }
  receiver.answer = (response, received, request) =>
    answerWith(received.path === '/refused' ? 410 : 200)(response, received, request)
  await install('hello', 'ci')
  await install('hello', 'rotated', { push: { branches: ['main'] } })
  await install('hello', 'refused')
  await install('hello', 'off')
  await install('hello', 'removed')
  await install('deleted', 'of-a-deleted-repo')
}

/** The receiver fails, and from here on everything waits in line. */
export async function fallBehind({ ok, acme, receiver, told }: Teller): Promise<void> {
  const pending = async () =>
    (await ok('webhooks/deliveries/list', { name: 'hello', status: 'pending' }, acme())).items.length
  while ((await pending()) > 0) await sleep(50)
  receiver.received.length = 0
  receiver.answer = answerWith(503, 'later')

  const { secret } = await ok('webhooks/secret', { name: 'hello', webhook: 'rotated' }, acme())
  told.webhooks.find(({ name }) => name === 'rotated')?.secrets.unshift(secret)
  for (const [branch, path] of [
    ['main', 'a.txt'],
    ['größe', 'b.txt'],
    ['main', 'c.txt'],
  ] as const) {
    const changes = [{ op: 'put', path, content: path }]
    await ok('git/commits/create', { name: 'hello', branch, message: 'späte Änderung', changes }, acme())
  }
  await ok('webhooks/disable', { name: 'hello', webhook: 'off' }, acme())
  await ok('webhooks/delete', { name: 'hello', webhook: 'removed' }, acme())
  const tried = (path: string) => receiver.received.some((each) => each.path === path)
  await receiver.until(() => tried('/ci') && tried('/rotated'))
}
