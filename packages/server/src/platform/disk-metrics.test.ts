import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { onEachDatabase, useApp } from '../testing/index.ts'

onEachDatabase('disk use', (create) => {
  const app = useApp(create)

  /** Looks until it has been found out. */
  async function read(name: string): Promise<number> {
    for (;;) {
      const text = await (await fetch(`${app.url}/metrics`)).text()
      const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
      if (found !== undefined) return Number(found)
      await sleep(10)
    }
  }

  it('is among the metrics: the disk, the database and the packs', async () => {
    const size = await read('trellis_disk_size_bytes')
    const free = await read('trellis_disk_free_bytes')
    assert.ok(free > 0 && free <= size, `${free} of ${size}`)
    assert.ok((await read('trellis_database_bytes')) > 100_000)
    assert.equal(await read('trellis_packs_bytes'), 0)

    const options = { token: app.ownerKey }
    assert.equal((await app.call('repos/create', { name: 'some' }, options)).status, 200)
    const changes = [{ op: 'put', path: 'a', content: 'a\n', encoding: 'utf-8' }]
    const commit = { name: 'some', branch: 'main', message: 'a', changes }
    assert.equal((await app.call('git/commits/create', commit, options)).status, 200)
    await app.background.run('pack survey')
    const { body } = await app.call('repos/get', { name: 'some' }, options)
    assert.ok(body.sizeBytes > 0)
    assert.equal(await read('trellis_packs_bytes'), body.sizeBytes)
  })
})
