import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'

const FILE = join(import.meta.dirname, 'descriptors.ts')
/** Node closes the first few it was started with to others, and no more. */
const LEFT_OPEN = 77

/** Starts a process as runtimes do, and tells what it has. */
const SERVER = `
  import { spawnSync } from 'node:child_process'
  import { descriptorsAfter } from ${JSON.stringify(FILE)}
  const stdio = ['ignore', 'pipe', 'ignore', 'pipe', ...(process.argv[1] ? [] : descriptorsAfter(4))]
  console.log(String(spawnSync('/bin/ls', ['-l', '/proc/self/fd'], { stdio }).stdout))`

async function openInWhatIsStarted(...args: string[]): Promise<string> {
  const left = openSync(FILE, 'r')
  const between = Array.from({ length: LEFT_OPEN - 3 }, () => 'ignore' as const)
  const server = spawn(process.execPath, ['--input-type=module', '-e', SERVER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', ...between, left],
  })
  closeSync(left)
  return server.stdout ? text(server.stdout) : ''
}

it('a process that is started inherits nothing of whoever started the server', async () => {
  const isLeft = new RegExp(`${LEFT_OPEN} -> .*descriptors\\.ts`)
  assert.match(await openInWhatIsStarted('careless'), isLeft)
  const open = await openInWhatIsStarted()
  assert.doesNotMatch(open, /descriptors\.ts/)
  assert.match(open, new RegExp(`${LEFT_OPEN} -> /dev/null`))
})
