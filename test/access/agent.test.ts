import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSqlite, createVisitor, type Person, useApp } from '@trellis/server/testing'
import type { Json } from '../../packages/server/src/testing/json.ts'
import { createSandbox } from '../git/harness.ts'
import { noCurlHere, run } from './shell.ts'

/** The commands of a document, by the headings above them. */
function commandsIn(markdown: string): Map<string, string[]> {
  const commands = new Map<string, string[]>()
  let heading = ''
  for (const part of markdown.split(/^(?=#+ |```)/m)) {
    if (part.startsWith('#')) heading = /^#+ (.*)/.exec(part)?.[1] ?? ''
    const command = /^```sh\n([\s\S]*)/.exec(part)?.[1]
    if (command) commands.set(heading, [...(commands.get(heading) ?? []), command])
  }
  return commands
}

describe('a new agent that follows /auth.md', { skip: noCurlHere }, () => {
  const sandbox = createSandbox()
  const app = useApp(createSqlite)
  let ana: Person
  let commands: Map<string, string[]>
  const used = new Set<string>()
  /** What the agent has learned so far, as it would keep it in its environment. */
  const known: Record<string, string> = {}

  before(async () => {
    // The address that stands in the document.
    ana = await app.signUp('ana')
  })
  after(sandbox.remove)

  /** Runs a command of the document. */
  async function step(heading: string, which = 0, edit = (command: string) => command) {
    const command = commands.get(heading)?.[which]
    assert.ok(command, `${heading} has no command ${which}`)
    used.add(command)
    return run(edit(command), work, known)
  }
  const answer = async (...args: Parameters<typeof step>): Promise<Json> =>
    JSON.parse((await step(...args)).stdout || '{}')
  const git = async (command: string) => {
    const { code, stdout, stderr } = await run(command, work, known)
    assert.equal(code, 0, stderr)
    return stdout
  }
  const work = sandbox.root
  const push = (text: string) => text.replace('REMOTE', known.REMOTE ?? '')
  const statusWith = async (token: string | undefined) =>
    (await app.call('repos/list', {}, token === undefined ? {} : { token })).status

  it('finds the document from a refusal', async () => {
    const refused = await app.call('repos/list', {})
    assert.equal(refused.status, 401)
    const resource = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1]
    const readJson = async (url: string | undefined) => (await fetch(url ?? '')).json()
    const protectedResource = (await readJson(resource)) as Json
    assert.equal(protectedResource.resource, app.url)
    const [issuer] = protectedResource.authorization_servers
    const server = (await readJson(`${issuer}/.well-known/oauth-authorization-server`)) as Json
    assert.equal(server.issuer, issuer)
    assert.deepEqual(server.agent_auth.identity_types_supported, ['anonymous', 'service_auth'])
    const text = await (await fetch(server.agent_auth.skill)).text()
    for (const url of [
      server.token_endpoint,
      server.revocation_endpoint,
      server.agent_auth.identity_endpoint,
      server.agent_auth.claim_endpoint,
    ])
      assert.ok(text.includes(url), url)
    commands = commandsIn(text)
    const git = await fetch(`${app.url}/git/a/b.git/info/refs?service=git-upload-pack`)
    assert.equal(git.status, 401)
    assert.match(git.headers.get('www-authenticate') ?? '', /resource_metadata=/)
    assert.ok((await git.text()).includes(server.agent_auth.skill))
    assert.ok(refused.body.message.includes(server.agent_auth.skill))
    assert.ok(server.grant_types_supported.includes('refresh_token'))
  })

  it('registers, gets a token, creates a repository and pushes to it', async () => {
    const registered = await answer('anonymous')
    Object.assign(known, {
      CLAIM_TOKEN: registered.claim_token,
      IDENTITY_ASSERTION: registered.identity_assertion,
    })
    const granted = await answer('Step 5: Exchange the assertion')
    assert.deepEqual(granted.scope.split(' '), registered.pre_claim_scopes)
    known.ACCESS_TOKEN = granted.access_token
    known.REMOTE = (await answer('Step 6: Use the access_token')).remote
    await git('git init -q -b main . && echo hello > readme && git add readme && git commit -qm "Say hello"')
    const pushed = await step('Step 6: Use the access_token', 1, push)
    assert.equal(pushed.code, 0, pushed.stderr)
    const { items } = await app.client(known.ACCESS_TOKEN).git.branches.list({ name: 'hello' })
    assert.deepEqual(
      items.map(({ name, oid }) => [name, oid]),
      [['main', (await git('git rev-parse HEAD')).trim()]],
    )
  })

  it('is claimed by a person who types its code, in pages without JavaScript', async () => {
    const { claim_attempt: ceremony } = await answer('Step 4: Claim ceremony')
    assert.equal((await answer('Step 4: Claim ceremony', 1)).error, 'authorization_pending')

    const visitor = createVisitor(app)
    const login = await visitor.get(ceremony.verification_uri)
    assert.match(login.text, /Sign in/)
    const return_to = new URL(ceremony.verification_uri).searchParams.get('return_to') ?? ''
    const credentials = { action: 'sign-in', email: ana.email, password: 'correct horse battery' }
    const { location } = await visitor.post(login, '/login', { ...credentials, return_to })
    const claim = await visitor.get(location ?? '')
    assert.match(claim.text, /Only go on if you started this agent/)
    const claim_attempt_token = new URL(return_to, app.url).searchParams.get('claim_attempt_token') ?? ''
    const done = await visitor.post(claim, '/claim', { claim_attempt_token, user_code: ceremony.user_code })
    assert.deepEqual([done.status, /The agent is yours/.test(done.text)], [200, true])

    known.BEFORE = known.ACCESS_TOKEN ?? ''
    assert.equal(await statusWith(known.BEFORE), 401)
    const polled = await answer('Step 4: Claim ceremony', 1)
    assert.equal(polled.scope, 'repo:read repo:write repo:admin org:read')
    assert.equal((await answer('Step 4: Claim ceremony', 1)).error, 'invalid_grant')
    Object.assign(known, { ACCESS_TOKEN: polled.access_token, REFRESH_TOKEN: polled.refresh_token })
  })

  it('goes on with its full scopes, while the token of before is dead for git too', async () => {
    await git('git commit -q --allow-empty -m "Go on"')
    const { ACCESS_TOKEN: token = '' } = known
    known.ACCESS_TOKEN = known.BEFORE ?? ''
    assert.notEqual((await step('Step 6: Use the access_token', 1, push)).code, 0)
    known.ACCESS_TOKEN = token
    assert.equal((await step('Step 6: Use the access_token', 1, push)).code, 0)
    assert.equal((await app.client(token).invites.create({ name: 'hello' })).repo, 'hello')
  })

  it('comes back a month later, still as itself', async () => {
    app.pass(30 * 24 * 60 * 60_000)
    await app.expire()
    assert.equal(await statusWith(known.ACCESS_TOKEN), 401)
    const renewed = await answer('Step 7: Go on for as long as you are wanted')
    known.ACCESS_TOKEN = renewed.access_token
    await git('git commit -q --allow-empty -m "Come back"')
    assert.equal((await step('Step 6: Use the access_token', 1, push)).code, 0)
    const { items } = await app
      .client(known.ACCESS_TOKEN)
      .events.list({ name: 'hello', types: ['git.push'], order: 'newest' })
    assert.equal(items[0]?.actor.kind, 'agent')
  })

  it('leaves a repository that does not end any more', async () => {
    const clone = `git -c http.extraHeader="Authorization: Bearer ${ana.token}" clone -q ${known.REMOTE} kept`
    await git(`${clone} && test "$(git -C kept log -1 --format=%s)" = "Come back"`)
  })

  it('can end its token, and ask by name for a person instead', async () => {
    const named = await answer('service_auth')
    assert.equal(named.identity_assertion, undefined)
    known.CLAIM_TOKEN = named.claim_token
    assert.equal((await answer('Step 4: Claim ceremony', 1)).error, 'authorization_pending')

    const fresh = await answer('anonymous')
    known.IDENTITY_ASSERTION = fresh.identity_assertion
    known.ACCESS_TOKEN = (await answer('Step 5: Exchange the assertion')).access_token
    assert.equal(await statusWith(known.ACCESS_TOKEN), 200)
    assert.equal((await step('Revocation')).stdout, '')
    assert.equal(await statusWith(known.ACCESS_TOKEN), 401)
  })

  it('has used every command of the document', () => {
    assert.deepEqual(
      [...commands.values()].flat().filter((command) => !used.has(command)),
      [],
    )
  })
})
