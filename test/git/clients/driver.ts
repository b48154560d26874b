// Other clients than stock git, each as a program beside this file that reads commands from its input and answers in
// its output, one line each, with tabs between the fields:
//
//   list <url>                     ok, and for each ref its name and where it is
//   clone <url> <dir> <depth>      ok; a depth of 0 is all of it
//   fetch <dir> <depth>            ok; from `origin`, with tags
//   push <url> <dir> <refspec>…    ok when all of them moved
//
// `no` says why something failed, and `cannot` what this version of the client is not able to do.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Command } from './installed.ts'

/** Thrown for what a client is not able to do, whatever the server. */
export class Cannot extends Error {}
/** Thrown for what failed, with what the client says of it. */
export class Refused extends Error {}

export interface Driver extends AsyncDisposable {
  list(url: string): Promise<Record<string, string>>
  clone(url: string, dir: string, depth?: number): Promise<void>
  fetch(dir: string, depth?: number): Promise<void>
  push(url: string, dir: string, ...refspecs: string[]): Promise<void>
}

interface Credential {
  user: string
  password: string
}

/** Starts a client in a directory that is its home. */
export function startDriver(command: Command, home: string, { user, password }: Credential): Driver {
  const [program = '', ...args] = command.words
  const child = spawn(program, args, {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TMPDIR: home,
      LC_ALL: 'C.UTF-8',
      CLIENT_USER: user,
      CLIENT_PASSWORD: password,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-4000)
  })
  const closed = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()

  async function tell(...fields: (string | number)[]): Promise<string[]> {
    child.stdin.write(`${fields.join('\t')}\n`)
    const { value, done } = await lines.next()
    assert.ok(!done, `the client ended at ${fields.join(' ')}: ${said}`)
    const [how, ...answer] = value.split('\t')
    if (how === 'cannot') throw new Cannot(answer.join(' '))
    if (how === 'no') throw new Refused(`${fields.join(' ')}: ${answer.join(' ')}`)
    assert.equal(how, 'ok', value)
    return answer
  }

  return {
    list: async (url) =>
      Object.fromEntries((await tell('list', url)).map((ref) => ref.split(' ') as [string, string])),
    clone: async (url, dir, depth = 0) => void (await tell('clone', url, dir, depth)),
    fetch: async (dir, depth = 0) => void (await tell('fetch', dir, depth)),
    push: async (url, dir, ...refspecs) => void (await tell('push', url, dir, ...refspecs)),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await closed
    },
  }
}
