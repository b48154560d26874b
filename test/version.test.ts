import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { INTERFACE_VERSION } from '@trellis/contract'
import { runAdmin } from '../packages/server/src/admin/run.ts'
import { lightMain } from './bundled-server.ts'

interface Manifest {
  version: string
  dependencies?: Record<string, string>
}

const readJson = <T>(path: string): T =>
  JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')) as T

const { version } = readJson<Manifest>('package.json')

describe('the version', () => {
  it('is one for the server, its packages, their lock and the interface', () => {
    for (const name of ['contract', 'extension', 'server']) {
      const manifest = readJson<Manifest>(`packages/${name}/package.json`)
      assert.equal(manifest.version, version, name)
      for (const [dependency, wanted] of Object.entries(manifest.dependencies ?? {}))
        if (dependency.startsWith('@trellis/')) assert.equal(wanted, version, dependency)
    }
    const lock = readJson<Manifest & { packages: Record<string, Manifest> }>('package-lock.json')
    for (const place of ['', 'packages/contract', 'packages/extension', 'packages/server'])
      assert.equal(lock.packages[place]?.version, version, place)
    assert.equal(lock.version, version)
    assert.equal(INTERFACE_VERSION, version)
  })

  it('has a place in the list of changes', () => {
    const changes = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
    assert.ok(changes.includes(`\n## ${version}`))
  })

  it('is told by the server and by the commands beside it, without a look at any setting', async () => {
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [lightMain(), ...args], {
        env: { PATH: process.env.PATH, TRELLIS_DATA: '/nowhere', TRELLIS_NONSENSE: 'x' },
      })
    assert.equal((await run('--version')).stdout, `${version}\n`)
    await assert.rejects(run('--port=80'), { code: 2, stdout: '', stderr: /takes no arguments/ })
    const said: string[] = []
    const say = (line: string) => void said.push(line)
    const surroundings = { env: { TRELLIS_NONSENSE: 'x' }, print: say, tell: say, ask: async () => undefined }
    assert.equal(await runAdmin(['--version'], surroundings), 0)
    assert.deepEqual(said, [version])
  })
})
