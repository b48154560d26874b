import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { type ErrorData, type OperationMeta, type Role, Scope } from '@trellis/contract'
import { allOperations } from '../operations/implement.ts'
import { mintSecret } from '../secrets/minting.ts'
import {
  type Answer,
  anonymousCookieIn,
  asEnvelope,
  type CallOptions,
  createSqlite,
  foundOrg,
  onEachDatabase,
  type Person,
  registerAgent,
  type TestApp,
  type TestOrg,
  useApp,
} from '../testing/index.ts'

type Power = NonNullable<OperationMeta['needs']>

const rolePowers: Record<Role, Power[]> = {
  member: ['repo:read', 'repo:write', 'org:read', 'keys:read', 'keys:write'],
  admin: ['repo:read', 'repo:write', 'repo:admin', 'org:read', 'org:admin', 'keys:read', 'keys:write'],
  owner: ['repo:read', 'repo:write', 'repo:admin', 'org:read', 'org:admin', 'keys:read', 'keys:write'],
}

const scopePowers: Record<Scope, Power[]> = {
  'repo:read': ['repo:read'],
  'repo:write': ['repo:read', 'repo:write'],
  'repo:admin': ['repo:read', 'repo:write', 'repo:admin'],
  'org:read': ['org:read'],
  'org:admin': ['org:read', 'org:admin'],
  'keys:read': ['keys:read'],
  'keys:write': ['keys:read', 'keys:write'],
  // Says where the others hold.
  account: [],
  '*': rolePowers.owner,
}

/** The organization `acme` has the repositories `target` and `other`; `stray` is somebody with no part in it. */
interface World {
  app: TestApp
  acme: TestOrg
  stray: Person
  /** The one commit of `target`, which puts a file `readme` on the branch `main`. */
  commit: string
}

/** One kind of caller: what it sends, and what is to be expected of it. */
interface CallerKind {
  title: string
  options: CallOptions
  is: 'nobody' | 'refused' | 'session' | 'key' | 'token' | 'agent'
  /** Asks to act in an organization it is no member of, or that its credential was not made in. */
  actsAbroad?: boolean
  /** Acts in an organization of its own, so that nothing of acme exists for it. */
  outside?: boolean
  role?: Role
  scopes?: Scope[]
  /** The one repository its credential opens. */
  only?: 'target' | 'other'
  /** Whose keys it sees. */
  person?: Person
}

/** What the table says of one operation beyond its declaration in the contract. */
interface Row {
  /** An input that would be good from the right caller. Made anew for every call. */
  input(world: World, caller: CallerKind): unknown
  /** Where the power depends on the input, or the contract leaves it open. */
  needs?: Power
  /** For every credential, whatever it may do. */
  open?: true
  /** Asks for the scope alone, whatever the role. */
  anyRole?: true
  ownersOnly?: true
  /** Closed to a credential for one repository, though its scope would do. */
  notForTokens?: true
  /** What a caller without the power sees, where it is not FORBIDDEN. */
  hides?: string
  /** What an agent sees, who has none of these and learns of nobody else's. */
  noneOfAgents?: string
  /** What the right caller sees, where it is not 200. */
  gives?: string
}

let made = 0
const fresh = (word: string) => `${word}-${++made}`
const orgSlug = 'acme'

const NO_RECORD = { name: 'target', record: 'none' }
/** Of an extension in `target`. */
const RUN = 'run_ended'
const NO_DELIVERY = '01900000-0000-7000-8000-000000000000'

const rows: Record<string, Row> = {
  // Founding an organization is a person's own matter, not one of a role in another organization.
  '/orgs/create': { input: () => ({ slug: fresh('org') }), anyRole: true },
  '/orgs/list': { input: () => ({}) },
  '/orgs/get': { input: () => ({ orgSlug }) },
  '/orgs/update': { input: () => ({ orgSlug, name: 'Acme' }) },
  '/orgs/delete': { input: () => ({ orgSlug }), ownersOnly: true, gives: '409 ORG_HAS_REPOS' },
  '/members/setRole': {
    input: ({ acme }) => ({ orgSlug, userId: acme.member.userId, role: 'member' }),
  },
  '/members/makeOwner': {
    input: ({ acme }) => ({ orgSlug, userId: acme.owner.userId }),
    ownersOnly: true,
  },
  '/members/list': { input: () => ({ orgSlug }) },
  '/members/invite': { input: () => ({ orgSlug, email: `${fresh('guest')}@example.com` }) },
  // To leave needs org:read; to remove somebody else needs more.
  '/members/remove': {
    input: () => ({ orgSlug, userId: 'usr_nobody' }),
    needs: 'org:admin',
    gives: '404 MEMBER_NOT_FOUND',
  },
  '/invitations/list': { input: () => ({ orgSlug }), needs: 'org:admin' },
  '/invitations/accept': {
    input: () => ({ invitationId: 'inv_none' }),
    gives: '404 INVITATION_NOT_FOUND',
  },
  // Whoever may not withdraw an invitation does not learn that there is one.
  '/invitations/cancel': {
    input: async ({ app, acme }) => {
      const email = `${fresh('guest')}@example.com`
      return { invitationId: (await app.client(acme.owner.token).members.invite({ orgSlug, email })).id }
    },
    needs: 'org:admin',
    hides: '404 INVITATION_NOT_FOUND',
  },
  '/credentials/self': { input: () => ({}), open: true },
  '/keys/list': { input: () => ({}) },
  '/keys/create': { input: (_, { scopes }) => ({ name: 'made', scopes: scopes ?? ['keys:read'] }) },
  '/keys/update': {
    input: async (world, caller) => ({ id: await freshKey(world, caller), name: 'renamed' }),
    noneOfAgents: '404 KEY_NOT_FOUND',
  },
  '/keys/revoke': {
    input: async (world, caller) => ({ id: await freshKey(world, caller) }),
    noneOfAgents: '404 KEY_NOT_FOUND',
  },
  '/rules/list': { input: () => ({ name: 'target' }) },
  '/rules/set': {
    input: () => ({ name: 'target', pattern: 'release/*', refuse: { delete: { except: ['owner'] } } }),
  },
  '/rules/delete': { input: () => ({ name: 'target', pattern: 'release/*' }) },
  '/tokens/list': { input: () => ({ name: 'target' }) },
  '/tokens/validate': { input: () => ({ token: 'whatever' }) },
  '/tokens/create': { input: () => ({ name: 'target' }) },
  '/tokens/revoke': { input: () => ({ name: 'target', id: 'tok_none' }) },
  '/repos/list': { input: () => ({}) },
  '/repos/search': { input: () => ({ query: 'target' }) },
  '/repos/create': { input: () => ({ name: fresh('repo') }), notForTokens: true },
  '/repos/get': { input: () => ({ name: 'target' }) },
  '/repos/overview': { input: () => ({ name: 'target' }) },
  '/repos/update': { input: () => ({ name: 'target', defaultBranch: 'main' }) },
  '/repos/delete': {
    input: async ({ app, acme }, { only }) => {
      // A token may at most reach its own repository, and must not be able to delete it.
      if (only) return { name: 'target' }
      const name = fresh('doomed')
      await app.client(acme.owner.token, orgSlug).repos.create({ name })
      return { name }
    },
  },
  '/repos/import': {
    input: () => ({ name: fresh('imported'), url: 'https://127.0.0.1/not-allowed.git' }),
    notForTokens: true,
    gives: '502 IMPORT_FAILED',
  },
  '/repos/purge': { input: () => ({ name: 'target' }) },
  // To read the one is not enough: the other is created.
  '/repos/fork': { input: () => ({ name: 'target', newName: fresh('fork') }), notForTokens: true },
  '/git/refs/list': { input: () => ({ name: 'target' }) },
  '/git/refs/update': {
    input: ({ commit }) => ({ name: 'target', ref: `refs/heads/${fresh('ref')}`, oid: commit }),
  },
  '/git/branches/list': { input: () => ({ name: 'target' }) },
  '/git/branches/create': { input: () => ({ name: 'target', branch: fresh('branch') }) },
  '/git/branches/compare': { input: () => ({ name: 'target', branches: ['main'] }) },
  '/git/branches/delete': { input: () => ({ name: 'target', branch: 'none' }) },
  '/git/tags/list': { input: () => ({ name: 'target' }) },
  '/git/tags/create': { input: ({ commit }) => ({ name: 'target', tag: fresh('tag'), oid: commit }) },
  '/git/tags/delete': { input: () => ({ name: 'target', tag: 'none' }) },
  '/git/commits/list': { input: () => ({ name: 'target' }) },
  '/git/commits/get': { input: () => ({ name: 'target', ref: 'main' }) },
  '/git/commits/create': { input: () => newCommit(fresh('branch')) },
  '/git/trees/get': { input: () => ({ name: 'target' }) },
  '/git/trees/lastChanges': { input: () => ({ name: 'target' }) },
  '/git/blobs/get': { input: () => ({ name: 'target', path: 'readme' }) },
  '/git/blame': { input: () => ({ name: 'target', path: 'readme' }) },
  '/git/grep': { input: () => ({ name: 'target', query: 'x' }) },
  '/git/files': { input: () => ({ name: 'target' }) },
  '/git/locate': { input: () => ({ name: 'target', address: 'main/readme' }) },
  '/git/compare': { input: () => ({ name: 'target', base: 'main', head: 'main' }) },
  '/git/diff': { input: () => ({ name: 'target', head: 'main' }) },
  '/git/mergePreview': { input: () => ({ name: 'target', branch: 'main', from: 'main' }) },
  '/git/merge': { input: () => ({ name: 'target', branch: 'main', from: 'main' }) },
  '/agents/list': { input: () => ({}) },
  '/agents/claimView': {
    input: () => ({ claimAttemptToken: 'none' }),
    gives: '404 AGENT_CLAIM_NOT_FOUND',
  },
  '/agents/claimComplete': {
    input: () => ({ claimAttemptToken: 'none', userCode: '123456' }),
    gives: '404 AGENT_CLAIM_NOT_FOUND',
  },
  '/agents/revoke': { input: () => ({ registrationId: 'none' }), gives: '404 AGENT_NOT_FOUND' },
  // A stranger gets a repository of their own; whoever comes with a credential acts with its power.
  '/invites/createAnonymous': { input: () => ({ name: 'target' }), needs: 'repo:admin' },
  '/invites/reveal': { input: () => ({ id: 'none'.repeat(4) }), gives: '404 INVITE_NOT_FOUND' },
  '/invites/listAnonymous': { input: () => ({}) },
  '/invites/create': { input: () => ({ name: 'target' }) },
  '/invites/list': { input: () => ({ name: 'target' }) },
  '/invites/revoke': { input: () => ({ managementId: 'none' }), gives: '404 INVITE_NOT_FOUND' },
  // The log of a repository; that of the organization needs org:read and is asked for below.
  '/events/list': { input: () => ({ name: 'target' }) },
  '/events/counts': { input: () => ({ name: 'target', from: 0, to: 1, bucket: 'day' }) },
  '/records/list': { input: () => NO_RECORD, gives: '404 RECORD_SCHEMA_NOT_FOUND' },
  '/records/collections': { input: () => ({ name: 'target' }) },
  '/records/get': { input: () => ({ ...NO_RECORD, id: 'rec_none' }), gives: '404 RECORD_SCHEMA_NOT_FOUND' },
  '/records/create': { input: () => ({ ...NO_RECORD, data: {} }), gives: '404 RECORD_SCHEMA_NOT_FOUND' },
  '/records/update': {
    input: () => ({ ...NO_RECORD, id: 'rec_none', revision: 1, data: {} }),
    gives: '404 RECORD_SCHEMA_NOT_FOUND',
  },
  '/records/delete': {
    input: () => ({ ...NO_RECORD, id: 'rec_none', revision: 1 }),
    gives: '404 RECORD_SCHEMA_NOT_FOUND',
  },
  '/extensions/list': { input: () => ({ name: 'target' }) },
  '/extensions/plan': { input: () => ({ name: 'target' }) },
  '/extensions/promote': { input: () => ({ name: 'target' }) },
  '/extensions/get': {
    input: () => ({ name: 'target', extension: 'none' }),
    gives: '404 EXTENSION_NOT_FOUND',
  },
  '/runs/dispatch': {
    input: () => ({ name: 'target', extension: 'none' }),
    gives: '404 EXTENSION_NOT_FOUND',
  },
  '/daemons/list': { input: () => ({ name: 'target' }) },
  '/daemons/wake': { input: () => ({ name: 'target', daemon: 'none' }), gives: '404 EXTENSION_NOT_FOUND' },
  '/daemons/resume': {
    input: () => ({ name: 'target', daemon: 'none' }),
    gives: '404 EXTENSION_NOT_FOUND',
  },
  '/runs/list': { input: () => ({ name: 'target' }) },
  '/runs/get': { input: () => ({ id: RUN }) },
  '/runs/logs': { input: () => ({ id: RUN }) },
  '/runs/steps': { input: () => ({ id: RUN }) },
  '/runs/cancel': { input: () => ({ id: RUN }) },
  '/secrets/set': { input: () => ({ name: 'target', secret: 'TOKEN', value: 'secret' }) },
  '/secrets/list': { input: () => ({ name: 'target' }) },
  '/secrets/delete': { input: () => ({ name: 'target', secret: 'NONE' }) },
  '/webhooks/create': {
    input: () => ({ name: 'target', webhook: fresh('hook'), url: 'http://203.0.113.7/' }),
    // Whoever may make one is told that nothing can be delivered there.
    gives: '400 BAD_REQUEST',
  },
  '/webhooks/list': { input: () => ({ name: 'target' }) },
  '/webhooks/get': { input: () => ({ name: 'target', webhook: 'none' }), gives: '404 WEBHOOK_NOT_FOUND' },
  '/webhooks/update': { input: () => ({ name: 'target', webhook: 'none' }), gives: '404 WEBHOOK_NOT_FOUND' },
  '/webhooks/enable': { input: () => ({ name: 'target', webhook: 'none' }), gives: '404 WEBHOOK_NOT_FOUND' },
  '/webhooks/disable': { input: () => ({ name: 'target', webhook: 'none' }), gives: '404 WEBHOOK_NOT_FOUND' },
  '/webhooks/delete': { input: () => ({ name: 'target', webhook: 'none' }), gives: '404 WEBHOOK_NOT_FOUND' },
  '/webhooks/secret': { input: () => ({ name: 'target', webhook: 'none' }), gives: '404 WEBHOOK_NOT_FOUND' },
  '/webhooks/redeliver': {
    input: () => ({ name: 'target', deliveryId: NO_DELIVERY }),
    gives: '404 WEBHOOK_DELIVERY_NOT_FOUND',
  },
  // For the owner of the first start, who is none of these.
  '/admin/overview': { input: () => ({}), gives: '403 FORBIDDEN insufficient_role' },
  '/admin/users/list': { input: () => ({}), gives: '403 FORBIDDEN insufficient_role' },
  '/webhooks/deliveries/list': { input: () => ({ name: 'target' }) },
  '/webhooks/deliveries/get': {
    input: () => ({ name: 'target', deliveryId: NO_DELIVERY }),
    gives: '404 WEBHOOK_DELIVERY_NOT_FOUND',
  },
}

function newCommit(branch: string) {
  const changes = [{ op: 'put' as const, path: 'readme', content: branch }]
  return { name: 'target', branch, message: 'Say something', changes }
}

/** As if it had been run before. */
async function insertRun({ database, now }: TestApp): Promise<void> {
  const { id: repo_id, org_id } = await database.db
    .selectFrom('repos')
    .select(['id', 'org_id'])
    .where('name', '=', 'target')
    .executeTakeFirstOrThrow()
  const none = {
    depth: 0,
    bytes: 0,
    log_bytes: 0,
    ready: 0,
    created_at: 0,
    ancestors: '[]',
    capabilities: '[]',
    effective: '[]',
  }
  await database.db
    .insertInto('runs')
    .values({
      ...none,
      id: RUN,
      repo_id,
      org_id,
      extension: 'gone',
      trigger_kind: 'dispatch',
      status: 'succeeded',
      runtime: 'worker',
      lane: 'worker',
      actor_kind: 'system',
      actor_id: 'test',
      ref: 'main',
      module_commit: '0'.repeat(40),
      module_hash: 'sha256:0',
      ended_at: now(),
      input: 'null',
    })
    .execute()
}

async function freshKey({ app, stray }: World, { person = stray, outside }: CallerKind): Promise<string> {
  const org = person === stray || outside ? undefined : orgSlug
  return (await app.client(person.token, org).keys.create({ name: 'fresh', scopes: ['keys:read'] })).id
}

/** What an operation has to answer to a caller: `200`, or status, code and reason. */
function expected(path: string, kind: CallerKind): string {
  const row = rows[path]
  const operation = operations.find((candidate) => candidate.path === path)
  if (!row || !operation) return '404 NOT_FOUND'
  const { admission, ignoresCredential, needs: declared } = operation.meta
  const input = operation.inputKeys
  if (ignoresCredential) return row.gives ?? '200'
  if (kind.is === 'refused' || (kind.is === 'nobody' && admission !== 'anyone')) return '401 UNAUTHENTICATED'
  if (kind.actsAbroad) return '403 FORBIDDEN not_a_member'
  if (kind.is === 'agent' && row.noneOfAgents) return row.noneOfAgents
  const passes = row.gives ?? '200'
  if (admission === 'anyone' && (kind.is === 'nobody' || !row.needs)) return passes
  if (admission === 'session') return kind.is === 'session' ? passes : '403 FORBIDDEN scope_missing'

  if (row.open) return passes
  const needs = row.needs ?? declared
  if (!needs) throw new Error(`${path} declares no power: the table has to say what it needs`)
  const fromRole = row.anyRole || rolePowers[kind.role ?? 'member'].includes(needs)
  const scoped = (power: Power) => kind.scopes?.some((scope) => scopePowers[scope].includes(power)) ?? false

  if (input.includes('orgSlug') && kind.outside) return '403 FORBIDDEN not_a_member'
  if (operation.addressesRepo && (kind.outside || kind.only === 'other' || !scoped('repo:read')))
    return '404 REPO_NOT_FOUND'
  if (operation.addressesRun && (kind.outside || kind.only === 'other' || !scoped('repo:read')))
    return '404 RUN_NOT_FOUND'
  if (row.hides && (kind.outside || !fromRole || !scoped(needs))) return row.hides
  if (!fromRole) return '403 FORBIDDEN insufficient_role'
  if (!scoped(needs) || (row.notForTokens && kind.is === 'token')) return '403 FORBIDDEN scope_missing'
  if (row.ownersOnly && kind.role !== 'owner') return '403 FORBIDDEN insufficient_role'
  return passes
}

const operations = allOperations().map(({ path, procedure }) => {
  const { meta, errorMap, inputSchema } = procedure['~orpc']
  return {
    path,
    meta: meta as OperationMeta,
    addressesRepo: 'REPO_NOT_FOUND' in errorMap,
    addressesRun: 'RUN_NOT_FOUND' in errorMap,
    inputKeys: Object.keys((inputSchema as { shape?: object } | undefined)?.shape ?? {}),
  }
})

async function kindsOfCaller(world: World): Promise<CallerKind[]> {
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

function said(answer: Answer): string {
  if (answer.status === 200) return '200'
  const { status, code, data } = asEnvelope(answer)
  const { reason } = data as ErrorData<'FORBIDDEN'>
  return [status, code, reason].filter((part) => part !== undefined).join(' ')
}

onEachDatabase('access', (create) => {
  const app = useApp(create, { TRELLIS_USER_MAX_KEYS: '1000', TRELLIS_USER_MAX_ORGS: '1000' })
  let world: World
  let kinds: CallerKind[]

  before(async () => {
    const acme = await foundOrg(app, orgSlug)
    const inAcme = app.client(acme.owner.token, orgSlug)
    for (const name of ['target', 'other']) await inAcme.repos.create({ name })
    const { oid: commit } = await inAcme.git.commits.create(newCommit('main'))
    await insertRun(app)
    world = { app, acme, stray: await app.signUp('stray'), commit }
    kinds = await kindsOfCaller(world)
  })

  /**
   * Everybody comes to every operation on one of the databases. On the other a caller is found by the same few queries
   * whatever it calls, so each comes to some of them, and an owner to all.
   */
  const comes = ({ is, role }: CallerKind, nth: number) =>
    create === createSqlite || (is === 'session' && role === 'owner') || nth % 5 === 0

  for (const [at, { path, meta }] of operations.entries()) {
    const title = rows[path]
      ? `answers each kind of caller at ${path} as declared: ${[meta.admission, meta.needs].filter(Boolean).join(', ')}`
      : `has nothing for anybody at ${path}`
    it(title, async () => {
      const asked = kinds.filter((kind, i) => comes(kind, i + at))
      const answers = await Promise.all(
        asked.map(async (kind) => {
          const input = await rows[path]?.input(world, kind)
          return `${kind.title}: ${said(await app.call(path.slice(1), input ?? {}, kind.options))}`
        }),
      )
      assert.deepEqual(
        answers,
        asked.map((kind) => `${kind.title}: ${expected(path, kind)}`),
      )
    })
  }
})
