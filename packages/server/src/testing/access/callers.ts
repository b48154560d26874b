import { type Role, Scope } from '@trellis/contract'
import { mintSecret } from '../../secrets/minting.ts'
import { anonymousCookieIn, registerAgent } from '../agents.ts'
import type { Person } from '../organizations.ts'
import { type CallerKind, orgSlug, type World } from './world.ts'

export async function kindsOfCaller(world: World): Promise<CallerKind[]> {
  const { app, acme, stray } = world
  const { owner, admin, member } = acme
  const inAcme = app.client(owner.token, orgSlug)
  const key = async (scopes: Scope[], person = owner) =>
    (await app.client(person.token, orgSlug).keys.create({ name: 'kind', scopes })).secret
  const token = async (name: string, scope: 'read' | 'write') =>
    (await inAcme.tokens.create({ name, scope })).secret

  const followingKey = async (person: Person) =>
    (await app.client(person.token).keys.create({ name: 'kind', scopes: ['*', 'account'] })).secret

  const expiring = await inAcme.keys.create({ name: 'expiring', expiresAt: app.now() + 60_000 })
  const shortLived = await inAcme.tokens.create({ name: 'target', ttlSeconds: 60 })
  app.pass(61_000)
  const disabled = await inAcme.keys.create({ name: 'disabled' })
  await inAcme.keys.update({ id: disabled.id, enabled: false })
  const revoked = await inAcme.keys.create({ name: 'revoked' })
  await inAcme.keys.revoke({ id: revoked.id })
  const revokedToken = await inAcme.tokens.create({ name: 'target' })
  await inAcme.tokens.revoke({ name: 'target', id: revokedToken.id })
  const orphaned = await inAcme.repos.create({ name: 'orphaned' })
  const orphanedToken = await token(orphaned.name, 'write')
  await inAcme.repos.delete({ name: orphaned.name })

  const refused = (title: string, secret: string): CallerKind => ({
    title,
    options: { token: secret },
    is: 'refused',
  })
  const session = (title: string, person: Person, role: Role): CallerKind => ({
    title,
    options: acme.as(person),
    is: 'session',
    role,
    scopes: ['*'],
    person,
  })
  const ofKey = async (
    title: string,
    scopes: Scope[],
    person = owner,
    role: Role = 'owner',
  ): Promise<CallerKind> => ({
    title,
    options: { token: await key(scopes, person) },
    is: 'key',
    role,
    scopes,
    person,
  })
  const ofToken = async (only: 'target' | 'other', scope: 'read' | 'write'): Promise<CallerKind> => ({
    title: `a ${scope} token of ${only}`,
    options: { token: await token(only, scope) },
    is: 'token',
    role: 'owner',
    scopes: [`repo:${scope}`],
    only,
    person: owner,
  })

  const unclaimed = await registerAgent(app)
  const claimed = await registerAgent(app)
  const { poll } = await claimed.beClaimed(stray)
  const revokedAgent = await registerAgent(app)
  const revokedPoll = (await revokedAgent.beClaimed(owner)).poll
  await app.client(owner.token).agents.revoke({ registrationId: revokedAgent.registrationId })
  const cookie = anonymousCookieIn(await app.call('invites/createAnonymous', { name: 'theirs' }))
  const ofAgent = (title: string, token: string, scopes: Scope[]): CallerKind => ({
    title,
    options: { token },
    is: 'agent',
    outside: true,
    role: 'owner',
    scopes,
  })

  return [
    { title: 'nobody', options: {}, is: 'nobody' },
    { title: 'nobody who names an organization', options: { org: orgSlug }, is: 'nobody' },
    { title: 'somebody known by a cookie alone', options: { headers: { cookie } }, is: 'nobody' },
    refused('a claimed agent with its token from before the claim', claimed.token),
    refused('a revoked agent', revokedPoll.access_token),
    ofAgent('an agent nobody has claimed', unclaimed.token, ['repo:read', 'repo:write']),
    ofAgent('an agent somebody else has claimed', poll.access_token, ['repo:admin', 'org:read']),
    {
      title: 'an agent that names another organization',
      options: { token: unclaimed.token, org: orgSlug },
      is: 'agent',
      actsAbroad: true,
    },
    refused('garbage', 'garbage'),
    refused('garbage that begins like a key', 'trk_garbage'),
    refused('a well-formed key that was never made', mintSecret('trk')),
    refused('a well-formed token that was never made', mintSecret('trt')),
    refused('a well-formed agent token that was never made', mintSecret('tra')),
    { title: 'Basic', options: { headers: { authorization: 'Basic b3duZXI6cGFzcw==' } }, is: 'refused' },
    { title: 'Bearer alone', options: { headers: { authorization: 'Bearer' } }, is: 'refused' },
    refused('an expired key', expiring.secret),
    refused('a disabled key', disabled.secret),
    refused('a revoked key', revoked.secret),
    refused('an expired token', shortLived.secret),
    refused('a revoked token', revokedToken.secret),
    refused('a token of a deleted repository', orphanedToken),

    session('an owner in a session', owner, 'owner'),
    session('an admin in a session', admin, 'admin'),
    session('a member in a session', member, 'member'),
    {
      title: 'an outsider in a session who names the organization',
      options: { token: stray.token, org: orgSlug },
      is: 'session',
      actsAbroad: true,
    },
    {
      title: 'an outsider in a session at home',
      options: { token: stray.token },
      is: 'session',
      outside: true,
      role: 'owner',
      scopes: ['*'],
      person: stray,
    },
    {
      title: "an outsider's key",
      options: { token: (await app.client(stray.token).keys.create({ name: 'kind' })).secret },
      is: 'key',
      outside: true,
      role: 'owner',
      scopes: ['*'],
      person: stray,
    },
    {
      title: "an owner's key with * that names another organization",
      options: { token: await key(['*']), org: owner.slug },
      is: 'key',
      actsAbroad: true,
    },

    await ofKey("an owner's key with *", ['*']),
    {
      title: "an owner's key from elsewhere that follows its maker",
      options: { token: await followingKey(owner), org: orgSlug },
      is: 'key',
      role: 'owner',
      scopes: ['*', 'account'],
      person: owner,
    },
    {
      title: "an outsider's key that follows its maker",
      options: { token: await followingKey(stray), org: orgSlug },
      is: 'key',
      actsAbroad: true,
    },
    await ofKey("an admin's key with *", ['*'], admin, 'admin'),
    await ofKey("a member's key with *", ['*'], member, 'member'),
    ...(await Promise.all(
      Scope.options.filter((scope) => scope !== '*').map((scope) => ofKey(`a key for ${scope}`, [scope])),
    )),
    await ofToken('target', 'read'),
    await ofToken('target', 'write'),
    await ofToken('other', 'read'),
    await ofToken('other', 'write'),
  ]
}
