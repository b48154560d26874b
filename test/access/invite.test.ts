import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createSqlite, useApp } from '@trellis/server/testing'
import { createSandbox } from '../git/harness.ts'
import { run } from './shell.ts'

describe('somebody without any account', () => {
  const sandbox = createSandbox()
  const app = useApp(createSqlite)

  after(sandbox.remove)

  /** Opens the address of an invite as an agent does, and does what it says there. */
  async function takeClone(url: string) {
    const { reveal } = (await (await fetch(url, { headers: { accept: 'application/json' } })).json()) as {
      reveal: { method: string; url: string; body: object }
    }
    const response = await fetch(reveal.url, {
      method: reveal.method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(reveal.body),
    })
    return (await response.json()) as { cloneUrl: string; cloneCommand: string; repo: string }
  }
  const ok = async (command: string, cwd: string) => {
    const { code, stdout, stderr } = await run(command, cwd)
    assert.equal(code, 0, `${command}: ${stderr}`)
    return stdout
  }

  it('gets somewhere to push with one call, and others clone it with one line, until its time is over', async () => {
    const writable = await app
      .client()
      .invites.createAnonymous({ name: 'sketch', scope: 'write', grantTtlSeconds: 600 })
    const clone = await takeClone(writable.url)
    await ok(clone.cloneCommand, sandbox.root)
    const work = join(sandbox.root, clone.repo)
    await ok(
      'echo hello > readme && git add -A && git commit -qm "Say hello" && git push -q origin HEAD',
      work,
    )

    // The same line again, by somebody else.
    const other = sandbox.path('other')
    const second = await takeClone(writable.url)
    await ok(`mkdir ${other} && cd ${other} && ${second.cloneCommand} && cat sketch/readme`, sandbox.root)
    await ok(
      'echo more >> readme && git commit -qam "Say more" && git push -q origin HEAD',
      join(other, 'sketch'),
    )
    await ok('git pull -q --rebase && grep more readme', work)

    app.pass(601_000)
    for (const command of ['git fetch', 'git push origin HEAD:late', `git ls-remote ${clone.cloneUrl}`]) {
      const { code, stderr } = await run(command, work)
      assert.notEqual(code, 0, command)
      assert.match(stderr, /Authentication failed|could not read (Username|Password)|401/)
    }
  })

  it('who was let in to read can read, and not push', async () => {
    const { token } = await app.signUp('ana')
    await app.client(token).repos.create({ name: 'plans' })
    const changes = [{ op: 'put' as const, path: 'plan', content: 'secret' }]
    await app.client(token).git.commits.create({ name: 'plans', branch: 'main', message: 'Plan', changes })
    const { url } = await app.client(token).invites.create({ name: 'plans', scope: 'read' })
    const clone = await takeClone(url)
    await ok(clone.cloneCommand, sandbox.root)
    const work = join(sandbox.root, 'plans')
    assert.equal(await ok('cat plan', work), 'secret')
    await ok('git commit -q --allow-empty -m "Mine"', work)
    const { code, stderr } = await run('git push origin HEAD', work)
    assert.notEqual(code, 0)
    assert.match(stderr, /403|scope_missing/)
    // The one repository, and none beside it.
    await app.client(token).repos.create({ name: 'beside' })
    const beside = clone.cloneUrl.replace('plans.git', 'beside.git')
    assert.notEqual((await run(`git ls-remote ${beside}`, work)).code, 0)
  })
})
