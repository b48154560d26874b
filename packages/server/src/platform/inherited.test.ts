import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'

const FAR = 40

it('what a process was left by whoever started it does not reach what it starts', {
  skip: !existsSync('/proc/self/fdinfo'),
}, async () => {
  const script = `
    import { execFileSync } from 'node:child_process'
    const { closeInherited } = await import(process.argv[1])
    const left = () => execFileSync('ls', ['/proc/self/fd'], { encoding: 'utf8' }).split('\\n').includes('${FAR}')
    const before = left()
    closeInherited()
    console.log(before, left())
  `
  const here = new URL('./inherited.ts', import.meta.url).href
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script, here], {
    stdio: ['ignore', 'pipe', 'inherit', ...Array<'ignore'>(FAR - 3).fill('ignore'), 'pipe'],
  })
  assert.ok(child.stdout)
  assert.equal(await text(child.stdout), 'true false\n')
})
