// An extension that is pushed, promoted and run as a process, over the files of its commit.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createSqlite, installBubblewrap, startTestApp, useInSuite, worldOf } from '@trellis/server/testing'

const world = useInSuite(async (made) => {
  await installBubblewrap()
  // As the server does.
  const umask = process.umask(0o077)
  made.defer(() => void process.umask(umask))
  const database = made.use(await createSqlite())
  const app = made.use(await startTestApp(database, { TRELLIS_SANDBOX: 'on' }))
  return { ...worldOf(app, (await app.signUp('ana')).token), app }
})

it('a run in the sandbox has the files of its commit, its own output and what it was granted', async (t) => {
  await world.repo('tools', {
    check: {
      declares: { runtime: 'sandbox', capabilities: ['repo:read'] },
      does: `
        const { execFileSync } = await import('node:child_process')
        const { writeFileSync } = await import('node:fs')
        console.log(execFileSync('cat', ['docs/a.md'], { encoding: 'utf8' }))
        writeFileSync('docs/a.md', 'changed')
        return { stored: await ctx.repo.readText('docs/a.md'), has: Object.keys(ctx).sort(), ...input }`,
    },
    leaves: { declares: { runtime: 'sandbox' }, does: 'process.exit(3)' },
  })
  await world.commit('tools', { 'docs/a.md': 'hello' })
  await world.ok('extensions/promote', { name: 'tools' })
  const { items } = await world.ok('extensions/list', { name: 'tools' })
  if (!items[0].dispatchable)
    return t.skip(/cannot run here.*"reason":"([^"]+)/.exec(world.app.logged())?.[1])

  for (const again of [false, true]) {
    const run = await world.run('tools', 'check', { again })
    assert.deepEqual([run.status, run.error, run.exitCode], ['succeeded', null, 0])
    assert.deepEqual(run.output, { stored: 'hello', has: ['log', 'repo', 'run', 'signal'], again })
    // Nothing of what the first did is there for the second.
    assert.ok((await world.log(run.id)).includes('run.log hello'))
  }
  const left = await world.run('tools', 'leaves')
  assert.deepEqual([left.status, left.exitCode], ['failed', 3])
})
