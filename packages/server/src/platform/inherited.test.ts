import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'

const FAR = 40
const here = new URL('./inherited.ts', import.meta.url).href

/** Says of a descriptor that was left to it whether its children have it, before and after. */
const CHILDREN = `
  import { execFileSync } from 'node:child_process'
  const { closeInherited } = await import(process.argv[1])
  const left = () => execFileSync('ls', ['/proc/self/fd'], { encoding: 'utf8' }).split('\\n').includes('${FAR}')
  const before = left()
  closeInherited()
  console.log(before, left())
`

/** Compiles much while a file of its own is open, and says how long that file is. */
const OWN_FILE = `
  import { fstatSync, openSync } from 'node:fs'
  const { closeInherited } = await import(process.argv[1])
  closeInherited()
  const own = openSync('own', 'w')
  await Promise.all(['crypto', 'http2', 'inspector', 'readline', 'repl'].map((name) => import('node:' + name)))
  console.log(fstatSync(own).size)
`

async function run(script: string, { options = [] as string[], cwd = '.' } = {}): Promise<string> {
  const child = spawn(process.execPath, [...options, '--input-type=module', '--eval', script, here], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit', ...Array<'ignore'>(FAR - 3).fill('ignore'), 'pipe'],
  })
  assert.ok(child.stdout)
  return text(child.stdout)
}

describe('what a process was left by whoever started it', { skip: !existsSync('/proc/self/fdinfo') }, () => {
  it('does not reach what it starts', async () => {
    assert.equal(await run(CHILDREN), 'true false\n')
  })

  it('is left alone where V8 writes a log: it would go into whatever is opened next', async () => {
    await using scratch = await mkdtempDisposable(join(tmpdir(), 'trellis-inherited-'))
    const options = ['--log-function-events', '--logfile=v8.log', '--no-logfile-per-isolate']
    assert.equal(await run(OWN_FILE, { options, cwd: scratch.path }), '0\n')
  })
})
