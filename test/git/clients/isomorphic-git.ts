// Does with isomorphic-git what it is told, line by line: see driver.ts.

import fs from 'node:fs'
import { createInterface } from 'node:readline'
import git from 'isomorphic-git'
import http from 'isomorphic-git/http/node'

const { CLIENT_USER: username, CLIENT_PASSWORD: password } = process.env
const access = {
  http,
  onAuth: () => ({ username, password }),
  // Otherwise it asks again and again.
  onAuthFailure: () => ({ cancel: true }),
}

const depthOf = (text: string) => (text === '0' ? {} : { depth: Number(text) })

/** One ref at a time is all it can push. */
async function push(url: string, dir: string, refspec: string): Promise<void> {
  const [, plus, from, to = ''] = /^(\+?)(.*):(.*)$/.exec(refspec) ?? []
  const what = from ? { ref: from, force: plus === '+' } : { ref: 'HEAD', delete: true }
  await git.push({ ...access, fs, dir, url, remoteRef: to, ...what })
}

const commands: Record<string, (...args: string[]) => Promise<string[] | undefined>> = {
  async list(url = '') {
    const refs = await git.listServerRefs({ ...access, url })
    return refs.map(({ ref, oid }) => `${ref} ${oid}`)
  },
  async clone(url = '', dir = '', depth = '0') {
    await git.clone({ ...access, fs, dir, url, ...depthOf(depth) })
    return undefined
  },
  async fetch(dir = '', depth = '0') {
    await git.fetch({ ...access, fs, dir, remote: 'origin', tags: true, ...depthOf(depth) })
    return undefined
  },
  async push(url = '', dir = '', ...refspecs) {
    for (const refspec of refspecs) await push(url, dir, refspec)
    return undefined
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const [verb = '', ...args] = line.split('\t')
  const said = await commands[verb]?.(...args).then(
    (answer) => ['ok', ...(answer ?? [])],
    (error: unknown) => ['no', String(error)],
  )
  console.log(said?.map((field) => field.replaceAll(/\s+/g, ' ')).join('\t'))
}
