import { type Recorded, SINCE } from '../manifest.ts'
import type { Teller } from './teller.ts'

/** Everything that can be read, and what every credential is good for, in the words of this version. */
export async function recordAnswers({ call, told, schema }: Teller): Promise<Recorded[]> {
  const recorded: Recorded[] = []
  const note = async (as: string | undefined, path: string, input: object, org?: string) => {
    const token = as && told.credentials[as]
    const cookie = as && told.cookies[as]
    const { status, body } = await call(path, input, { token, cookie, org })
    recorded.push({ ...(as && { as }), ...(org && { org }), path, input, status, body })
  }
  const asAnn = (path: string, input: object, org = 'acme') => note('ann', path, input, org)

  for (const as of Object.keys(told.credentials)) await note(as, 'orgs/list', {})
  await note('ann in a browser', 'orgs/list', {})
  for (const orgSlug of ['acme', 'frost', 'ann', 'gone'])
    for (const path of ['orgs/get', 'members/list', 'invitations/list']) await note('ann', path, { orgSlug })
  for (const org of ['acme', 'frost', 'ann']) {
    await asAnn('repos/list', {}, org)
    await asAnn('events/list', { limit: 250 }, org)
  }
  await asAnn('keys/list', {})
  await note('eve', 'orgs/get', { orgSlug: 'acme' })
  for (const name of ['reading token', 'writing token', 'revoked token'])
    await note(undefined, 'tokens/validate', { token: told.credentials[name] })
  await asAnn('tokens/list', { name: 'hello' })
  for (const name of ['hello', 'empty', 'many', 'renamed', 'locked', 'deleted']) {
    await asAnn('repos/get', { name })
    await asAnn('events/list', { name, limit: 250 })
  }

  if (schema >= SINCE.git)
    for (const name of ['hello', 'many', 'fork', 'imported']) {
      await asAnn('events/list', { name, limit: 250 })
      await asAnn('git/refs/list', { name })
      await asAnn('git/commits/list', { name })
    }
  if (schema >= SINCE.agents) {
    await note('ann', 'agents/list', {})
    await note('unclaimed agent', 'repos/list', {})
    await asAnn('invites/list', { name: 'hello' })
    await note('somebody without an account', 'invites/listAnonymous', {})
  }
  if (schema >= SINCE.webhooks) {
    await asAnn('webhooks/list', { name: 'hello' })
    for (const status of ['success', 'failed', 'dropped'])
      await asAnn('webhooks/deliveries/list', { name: 'hello', status, limit: 100 })
  }
  if (schema >= SINCE.rules) await asAnn('rules/list', { name: 'renamed' })
  if (schema >= SINCE.extensions) {
    await asAnn('records/list', { name: 'tools', record: 'task' }, 'ann')
    await asAnn('records/list', { name: 'tools', record: 'task', where: { status: 'done' } }, 'ann')
  }
  if (schema >= SINCE.runs) {
    const { items } = (
      await call('runs/list', { name: 'engine' }, { token: told.credentials.ann, org: 'ann' })
    ).body
    for (const { id } of items) await asAnn('runs/get', { id }, 'ann')
    await asAnn('secrets/list', { name: 'engine' }, 'ann')
  }
  return recorded
}
