import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { runProgram } from '@trellis/server/testing'
import { parseConfig } from '../../packages/server/src/platform/config.ts'

const root = resolve(import.meta.dirname, '../..')
const unit = () => readFile(join(root, 'deploy/trellis.service'), 'utf8')

function hasSystemd(): boolean {
  try {
    execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('the unit for systemd', () => {
  it('is one, for systemd', { skip: hasSystemd() ? false : 'systemd is not installed' }, async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'trellis-unit-'))
    const file = join(directory.path, 'trellis.service')
    // It looks whether there is what is to be started.
    await writeFile(file, (await unit()).replaceAll('/opt/trellis', root))
    const { code, stderr } = await runProgram(['systemd-analyze', 'verify', '--man=no', file], {
      cwd: directory.path,
      env: { PATH: process.env.PATH },
    })
    const about = stderr.split('\n').filter((line) => line.includes('trellis.service'))
    // Older ones do not know it, and say that they go on without.
    assert.deepEqual(
      about.filter((line) => !line.includes('DelegateSubgroup')),
      [],
    )
    assert.equal(code, 0, stderr)
  })

  it('gives it settings that it has, and more time to stop than it takes', async () => {
    const text = await unit()
    const environment = /^Environment=(.*)$/m.exec(text)?.[1] ?? ''
    const config = parseConfig(Object.fromEntries(environment.split(' ').map((pair) => pair.split('='))))
    assert.equal(config.data, '/var/lib/trellis')
    assert.match(text, /^StateDirectory=trellis$/m)
    assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) * 1000 > config.shutdownMs)
  })
})
