import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { cookiesIn, type Teller } from './teller.ts'

/** No key can be made that has ended already. */
const SOON_MS = 2_000

/** People, organizations, keys, repositories as rows and tokens for them: each in every state it can be in. */
export async function tellOfPeople(teller: Teller): Promise<void> {
  await signUpPeople(teller)
  await foundOrgs(teller)
  await makeKeys(teller)
  await makeRepos(teller)
}

async function signUpPeople({ post, told }: Teller): Promise<void> {
  const { password } = told
  for (const name of ['ann', 'ben', 'cyn', 'dan', 'eve']) {
    const email = `${name}@example.com`
    const { status, body } = await post('/api/auth/sign-up/email', { email, name, password })
    assert.equal(status, 200, JSON.stringify(body))
    told.people[name] = { email, id: body.user.id }
    told.credentials[name] = body.token
  }
  const signIn = (name: string) => post('/api/auth/sign-in/email', { email: `${name}@example.com`, password })
  told.cookies['ann in a browser'] = cookiesIn(await signIn('ann'))
  const { token } = (await signIn('ben')).body
  told.credentials['ended session'] = token
  await post('/api/auth/sign-out', {}, { token })
  // Somebody set out for GitHub and has not come back.
  assert.equal((await post('/api/auth/sign-in/social', { provider: 'github' })).status, 200)
}

async function foundOrgs({ ok, told }: Teller): Promise<void> {
  const { ann, eve } = told.credentials
  const asAnn = { token: ann }
  for (const slug of ['acme', 'frost', 'gone'])
    await ok('orgs/create', { slug, name: `The ${slug} company` }, asAnn)
  const invite = (name: string, role: string) =>
    ok('members/invite', { orgSlug: 'acme', email: `${name}@example.com`, role }, asAnn)
  for (const [name, role] of [
    ['ben', 'admin'],
    ['cyn', 'member'],
    ['eve', 'member'],
  ] as const) {
    const { id } = await invite(name, role)
    await ok('invitations/accept', { invitationId: id }, { token: told.credentials[name] })
  }
  const left = await ok('keys/create', { name: 'of somebody who left' }, { token: eve, org: 'acme' })
  told.credentials['key of eve'] = left.secret
  await ok('members/remove', { orgSlug: 'acme', userId: told.people.eve?.id }, asAnn)
  await invite('dan', 'admin')
  const cancelled = await invite('fay', 'member')
  await ok('invitations/cancel', { invitationId: cancelled.id }, asAnn)
  await ok('orgs/delete', { orgSlug: 'gone' }, asAnn)
}

async function makeKeys({ ok, acme, told }: Teller): Promise<void> {
  const make = async (name: string, more: object = {}): Promise<string> => {
    const { id, secret } = await ok('keys/create', { name, ...more }, acme())
    told.credentials[name] = secret
    return id
  }
  await make('full key')
  await make('reading key', { scopes: ['repo:read', 'org:read'] })
  await make('key for a year', { expiresAt: Date.now() + 365 * 86_400_000 })
  await ok('keys/update', { id: await make('disabled key'), enabled: false }, acme())
  await make('expired key', { expiresAt: Date.now() + SOON_MS })
  await ok('keys/revoke', { id: await make('revoked key') }, acme())
  await sleep(SOON_MS)
}

async function makeRepos({ ok, acme, told }: Teller): Promise<void> {
  for (const name of ['hello', 'empty', 'locked', 'old-name', 'deleted', 'many'])
    await ok('repos/create', { name }, acme())
  await ok('repos/update', { name: 'old-name', newName: 'renamed', defaultBranch: 'trunk' }, acme())
  await ok('repos/create', { name: 'ice' }, { ...acme(), org: 'frost' })
  for (const [name, scope] of [
    ['reading token', 'read'],
    ['writing token', 'write'],
    ['revoked token', 'write'],
  ] as const) {
    const made = await ok('tokens/create', { name: 'hello', scope }, acme())
    told.credentials[name] = made.secret
    if (name === 'revoked token') await ok('tokens/revoke', { name: 'hello', id: made.id }, acme())
  }
}

/** What nothing can happen to afterwards. */
export async function closeDoors({ ok, acme }: Teller): Promise<void> {
  await ok('repos/update', { name: 'locked', readOnly: true }, acme())
  await ok('orgs/update', { orgSlug: 'frost', frozen: true }, acme())
  await ok('repos/delete', { name: 'deleted' }, acme())
}
