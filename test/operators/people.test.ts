// What operators do about people and organizations, beside a server that runs.

import assert from 'node:assert/strict'
import { chown, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Answer,
  onEachDatabase,
  registerAgent,
  startTestApp,
  type TestDatabase,
  useInSuite,
} from '@trellis/server/testing'
import { sql } from 'kysely'
import { createScryptPasswords } from '../../packages/server/src/people/passwords.ts'
import { admin, adminAsked } from '../backup/admin.ts'

/** A user who is not there. */
const SOMEBODY = 54_321
const PASSWORD = 'correct horse battery'

onEachDatabase('operators', (create) => {
  const app = useInSuite(async (made) => {
    const database: TestDatabase = made.use(await create())
    // Those of the commands: a password that one resets is to be good for the other.
    const passwords = made.adopt(createScryptPasswords(), (hashers) => hashers.close())
    const started = made.use(await startTestApp(database, {}, { passwords }))
    return { ...started, place: { data: started.data, url: database.url } }
  })

  const run = (...args: string[]) => admin(app.place, ...args)
  const done = async (...args: string[]): Promise<string> => {
    const { code, said, told } = await run(...args)
    assert.equal(code, 0, told)
    // A server looks every ten milliseconds whether others have written to its SQLite.
    await sleep(20)
    return said
  }
  const refused = async (words: RegExp, ...args: string[]) => {
    const { code, said, told } = await run(...args)
    assert.deepEqual([code, said], [2, ''], told)
    assert.match(told, words)
  }
  const signIn = async (email: string, password: string): Promise<Answer> => {
    const response = await fetch(`${app.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const made = async (path: string, input: object, token: string) => {
    const { status, body } = await app.call(path, input, { token })
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const statusOf = async (token: string) => (await app.call('repos/list', {}, { token })).status

  it('shut somebody out at once, with all they handed out, and let them in again', async () => {
    const ana = await app.signUp('ana')
    await made('repos/create', { name: 'one' }, ana.token)
    const { secret: key } = await made('keys/create', { name: 'ci' }, ana.token)
    const { secret: token } = await made('tokens/create', { name: 'one' }, ana.token)
    const { id: invite } = await made('invites/create', { name: 'one' }, ana.token)
    const { cloneUrl } = await made('invites/reveal', { id: invite }, ana.token)
    const cloned = new URL(cloneUrl).password
    const agent = (await (await registerAgent(app)).beClaimed(ana)).poll.access_token
    await made('repos/create', { name: 'of-agent' }, agent)
    const { secret: ofAgent } = await made('tokens/create', { name: 'of-agent' }, agent)
    const all = { session: ana.token, key, token, cloned, agent, ofAgent }
    const statuses = async () =>
      Object.fromEntries(
        await Promise.all(Object.entries(all).map(async ([name, each]) => [name, await statusOf(each)])),
      )
    const everywhere = (status: number) => Object.fromEntries(Object.keys(all).map((name) => [name, status]))
    assert.deepEqual(await statuses(), everywhere(200))

    await refused(/Nobody can be asked here: say so with --yes/, 'users', 'disable', 'ana@example.com')
    assert.match(
      (await adminAsked('no', app.place, 'users', 'disable', ana.email)).told,
      /Nothing was changed/,
    )
    assert.deepEqual(await statuses(), everywhere(200))

    assert.equal(await done('users', 'disable', 'Ana@Example.com', '--yes'), 'ana@example.com is disabled.\n')
    assert.deepEqual(await statuses(), everywhere(401))
    assert.deepEqual((await app.call('invites/reveal', { id: invite })).body.data, { reason: 'revoked' })
    const again = await signIn(ana.email, PASSWORD)
    assert.deepEqual([again.status, again.body.code], [403, 'ACCOUNT_DISABLED'])
    await refused(/disabled already/, 'users', 'disable', ana.userId, '--yes')
    const listed = (await done('users', 'list', '--json'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      listed.map(({ email, disabledAt }) => [email, disabledAt !== null]),
      [
        ['owner@trellis.local', false],
        [ana.email, true],
      ],
    )

    await done('users', 'enable', ana.userId)
    assert.deepEqual(await statuses(), { ...everywhere(401), key: 200, agent: 200 })
    assert.equal((await signIn(ana.email, PASSWORD)).status, 200)
    await refused(/is not disabled/, 'users', 'enable', ana.email)
    await refused(/Nobody has the address or id zoe/, 'users', 'enable', 'zoe')
  })

  it('give somebody a new password, and end what else they sign in with', async () => {
    const bob = await app.signUp('bob')
    const { db } = app.database
    await sql`insert into passkeys (id, user_id, public_key, credential_id, counter, device_type, backed_up)
      values ('lost', ${bob.userId}, 'key', 'credential', 0, 'singleDevice', false)`.execute(db)
    await sql`insert into two_factors (id, user_id, secret, backup_codes, verified)
      values ('lost', ${bob.userId}, 'sealed', 'sealed', true)`.execute(db)
    await sql`update users set two_factor_enabled = true where id = ${bob.userId}`.execute(db)
    const { id, email, password } = JSON.parse(
      await done('users', 'reset-password', bob.email, '--json', '--yes'),
    )
    assert.deepEqual([id, email], [bob.userId, bob.email])
    assert.equal(await statusOf(bob.token), 401)
    assert.equal((await signIn(email, PASSWORD)).status, 401)
    const { status, body } = await signIn(email, password)
    assert.equal(status, 200)
    assert.equal(await statusOf(body.token), 200)
    const { rows } = await sql`select id from passkeys where user_id = ${bob.userId}`.execute(db)
    assert.deepEqual(rows, [])
  })

  it('hand out links that set a password once', async () => {
    const gil = await app.signUp('gil')
    const enter = async (url: string): Promise<number> => (await fetch(url)).status
    const url = new URL((await done('users', 'link', gil.email)).trim())
    assert.match(url.pathname, /^\/enter\/trl_/)
    const here = app.url + url.pathname
    assert.deepEqual([await enter(here), await statusOf(gil.token)], [200, 200])
    // A new password ends it, as another link does.
    await refused(/All sessions of gil@.* say so with --yes/, 'users', 'reset-password', gil.email)
    assert.equal(await enter(here), 200)
    await done('users', 'reset-password', gil.email, '--yes')
    assert.equal(await enter(here), 404)
  })

  it('let the owner of the first start in again, with a link or another key', async () => {
    const { link } = JSON.parse(await done('owner', 'link', '--json'))
    assert.equal((await fetch(app.url + new URL(link).pathname)).status, 200)
    const before = app.ownerKey ?? ''
    assert.equal(await statusOf(before), 200)
    await refused(/say so with --yes/, 'owner', 'key')
    // As root, beside a server that runs as another user.
    const isRoot = process.getuid?.() === 0
    if (isRoot) await chown(app.data, SOMEBODY, SOMEBODY)
    const key = (await done('owner', 'key', '--yes')).trim()
    if (isRoot) await chown(app.data, 0, 0)
    assert.deepEqual([await statusOf(before), await statusOf(key)], [401, 200])
    assert.equal((await readFile(join(app.data, 'owner.key'), 'utf8')).trim(), key)
    const { mode, uid } = await stat(join(app.data, 'owner.key'))
    assert.deepEqual([mode & 0o777, uid], [0o600, isRoot ? SOMEBODY : process.getuid?.()])
    await refused(
      /is the owner of the first start, and stays/,
      'users',
      'remove',
      'owner@trellis.local',
      '--yes',
    )
  })

  it('remove somebody, but for the last owner of what is not empty, unless there is an heir', async () => {
    const cem = await app.signUp('cem')
    const dan = await app.signUp('dan')
    await made('orgs/create', { slug: 'full' }, cem.token)
    await made('orgs/create', { slug: 'empty' }, cem.token)
    const inFull = { token: cem.token, org: 'full' }
    assert.equal((await app.call('repos/create', { name: 'kept' }, inFull)).status, 200)
    const { body: invitation } = await app.call(
      'members/invite',
      { orgSlug: 'empty', email: 'guest@example.com', role: 'member' },
      { token: cem.token },
    )
    assert.equal(invitation.email, 'guest@example.com')
    const { secret: key } = (await app.call('keys/create', { name: 'ci' }, inFull)).body
    const agent = (await (await registerAgent(app)).beClaimed(cem)).poll.access_token

    // Without a word of what would become of the rest.
    await refused(
      /^cem@example\.com is the last owner of full: make somebody else an owner/,
      ...['users', 'remove', cem.email, '--yes'],
    )
    assert.deepEqual(await Promise.all([cem.token, key, agent].map(statusOf)), [200, 200, 200])
    await refused(/their own heir/, 'users', 'remove', cem.email, '--heir', cem.userId, '--yes')

    const { code, said, told } = await run('users', 'remove', cem.email, '--heir', dan.email, '--yes')
    assert.deepEqual([code, said], [0, 'cem@example.com is removed.\n'], told)
    assert.match(told, /dan@example\.com becomes the owner of full\./)
    assert.match(told, /Agents of theirs that are revoked: 1/)
    assert.deepEqual(await Promise.all([cem.token, key, agent].map(statusOf)), [401, 401, 401])
    assert.equal((await signIn(cem.email, PASSWORD)).status, 401)
    const members = await app.call('members/list', { orgSlug: 'full' }, { token: dan.token })
    assert.deepEqual(
      members.body.items.map(({ email, role }: { email: string; role: string }) => [email, role]),
      [[dan.email, 'owner']],
    )
    assert.equal((await app.call('repos/list', {}, { token: dan.token, org: 'full' })).body.items.length, 1)
    // The slug is free again, and so is the address.
    await made('orgs/create', { slug: 'empty' }, dan.token)
    await app.signUp('cem')
  })

  it('freeze an organization, which no owner undoes', async () => {
    const eva = await app.signUp('eva')
    const create = (name: string) => app.call('repos/create', { name }, { token: eva.token })
    await done('orgs', 'freeze', eva.slug)
    assert.deepEqual((await create('one')).body.data, { reason: 'write_frozen' })
    const thaw = await app.call('orgs/update', { orgSlug: eva.slug, frozen: false }, { token: eva.token })
    assert.deepEqual([thaw.status, thaw.body.data], [403, { reason: 'write_frozen' }])
    assert.match(thaw.body.message, /operator/)
    assert.match(await done('orgs', 'list'), new RegExp(`^${eva.slug} .* frozen by the operator$`, 'm'))
    await done('orgs', 'unfreeze', eva.slug)
    assert.equal((await create('one')).status, 200)
    await refused(/There is no organization nowhere/, 'orgs', 'freeze', 'nowhere')
  })

  it('set what one organization may have, and go back to the settings', async () => {
    const fay = await app.signUp('fay')
    const create = (name: string) => app.call('repos/create', { name }, { token: fay.token })
    const commit = (content: string) =>
      app.call(
        'git/commits/create',
        { name: 'one', branch: 'main', message: 'm', changes: [{ op: 'put', path: 'a', content }] },
        { token: fay.token },
      )
    assert.match(
      await done('orgs', 'limits', fay.slug),
      /^repositories: 0 of 10000, by TRELLIS_ORG_MAX_REPOS$/m,
    )
    assert.match(
      await done('orgs', 'limits', fay.slug, '--repositories', '1', '--bytes', '3000'),
      /^repositories: 0 of 1, set for this organization\nbytes: 0 of 3000, set/,
    )
    assert.equal((await create('one')).status, 200)
    assert.deepEqual((await create('two')).body.data, { scope: 'org', limit: 1, observed: 1, projected: 2 })
    assert.equal((await commit('small')).status, 200)
    const large = await commit('x'.repeat(2000).replaceAll(/x/g, () => Math.random().toString(36)))
    assert.deepEqual([large.body.code, large.body.data.limit], ['QUOTA_EXCEEDED', 3000])
    const set = JSON.parse(await done('orgs', 'limits', fay.slug, '--repositories', 'default', '--json'))
    assert.deepEqual(set.repositories, { count: 1, limit: 10_000, isOwn: false })
    assert.deepEqual([set.bytes.limit, set.bytes.isOwn], [3000, true])
    assert.equal((await create('two')).status, 200)
    await refused(/--bytes must be a whole number, or default/, 'orgs', 'limits', fay.slug, '--bytes', '1GB')
  })

  it('are told what there is', async () => {
    assert.match(await done('users'), /users disable <who>/)
    assert.match(await done('users', 'remove', '--help'), /^npm run admin -- users remove <who>/)
    assert.match(await done(), /orgs limits <slug>/)
    await refused(/There is no command users dance/, 'users', 'dance')
    await refused(/npm run admin -- users disable/, 'users', 'disable')
  })
})
