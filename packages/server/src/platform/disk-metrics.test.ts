import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { it } from 'node:test'
import { onEachDatabase, useApp } from '../testing/index.ts'
import { watchDisk } from './disk-metrics.ts'
import { createRegistry } from './metrics.ts'

const find = (text: string, name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])

onEachDatabase('disk use', (create) => {
  const app = useApp(create)

  const read = async (name: string) => find(await (await fetch(`${app.url}/metrics`)).text(), name)

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

it('is what it is when somebody asks, and what does not answer keeps nobody waiting', async () => {
  const registry = createRegistry()
  const answers = [Promise.resolve(1), Promise.resolve(2), new Promise<number>(() => {})]
  const bytes = () => answers.shift() ?? assert.fail('asked again before there was an answer')
  watchDisk(registry, { dataDir: tmpdir(), database: { bytes } })
  for (const expected of [1, 2, 2, 2]) {
    const text = await registry.metrics()
    assert.equal(find(text, 'trellis_database_bytes'), expected)
    assert.ok(find(text, 'trellis_disk_free_bytes') > 0)
  }
})
