import type { OperationMeta } from '@trellis/contract'
import { type CallerKind, newCommit, orgSlug, RUN, type World } from './world.ts'

export type Power = NonNullable<OperationMeta['needs']>

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

const NO_RECORD = { name: 'target', record: 'none' }
const NO_DELIVERY = '01900000-0000-7000-8000-000000000000'

export const rows: Record<string, Row> = {
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
  '/git/refs/search': { input: () => ({ name: 'target', query: 'main' }) },
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
  '/admin/self': { input: () => ({}) },
  '/admin/overview': { input: () => ({}), gives: '403 FORBIDDEN insufficient_role' },
  '/admin/users/list': { input: () => ({}), gives: '403 FORBIDDEN insufficient_role' },
  '/webhooks/deliveries/list': { input: () => ({ name: 'target' }) },
  '/webhooks/deliveries/get': {
    input: () => ({ name: 'target', deliveryId: NO_DELIVERY }),
    gives: '404 WEBHOOK_DELIVERY_NOT_FOUND',
  },
}

async function freshKey({ app, stray }: World, { person = stray, outside }: CallerKind): Promise<string> {
  const org = person === stray || outside ? undefined : orgSlug
  return (await app.client(person.token, org).keys.create({ name: 'fresh', scopes: ['keys:read'] })).id
}
