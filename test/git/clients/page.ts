// What a page does that has a git client in it: bundled and run by a browser, see in-a-browser.test.ts.

import { Buffer } from 'buffer/'
import git from 'isomorphic-git'
import http from 'isomorphic-git/http/web'

/** A disk in memory, of which isomorphic-git wants what Node's promises have. */
function createMemoryDisk() {
  const files = new Map<string, Uint8Array>()
  const folders = new Set(['/'])
  const missing = (path: string) => Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
  const needParent = (path: string) => {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/'
    if (!folders.has(parent)) throw missing(parent)
  }
  const inside = (path: string) => {
    const start = path === '/' ? path : `${path}/`
    const below = [...files.keys(), ...folders].filter((each) => each.startsWith(start) && each !== '/')
    return [...new Set(below.map((each) => each.slice(start.length).split('/')[0] ?? ''))]
  }
  const stat = async (given: string) => {
    const path = given.replace(/\/\.$/, '')
    const file = files.get(path)
    if (!file && !folders.has(path)) throw missing(path)
    const numbers = { ctimeMs: 1, mtimeMs: 1, dev: 1, ino: 1, uid: 1, gid: 1 }
    return {
      ...numbers,
      mode: file ? 0o100644 : 0o40000,
      size: file?.length ?? 0,
      isFile: () => file !== undefined,
      isDirectory: () => file === undefined,
      isSymbolicLink: () => false,
    }
  }
  const noLinks = async (path: string) => {
    throw missing(path)
  }
  return {
    promises: {
      stat,
      lstat: stat,
      readlink: noLinks,
      symlink: noLinks,
      async readFile(path: string, how?: string | { encoding?: string }) {
        const file = files.get(path)
        if (!file) throw missing(path)
        const encoding = typeof how === 'string' ? how : how?.encoding
        return encoding ? new TextDecoder().decode(file) : file
      },
      async writeFile(path: string, content: string | Uint8Array) {
        needParent(path)
        files.set(path, typeof content === 'string' ? new TextEncoder().encode(content) : content)
      },
      async mkdir(path: string) {
        needParent(path)
        folders.add(path)
      },
      async readdir(path: string) {
        if (!folders.has(path)) throw missing(path)
        return inside(path)
      },
      async unlink(path: string) {
        if (!files.delete(path)) throw missing(path)
      },
      async rmdir(path: string) {
        folders.delete(path)
      },
    },
  }
}

/** Clones, commits a file, pushes it, and says what it got and what it made. */
async function cloneAndPush(url: string, password: string): Promise<{ cloned: string; pushed: string }> {
  const fs = createMemoryDisk()
  const dir = '/clone'
  const access = {
    ...{ fs, http, dir },
    onAuth: () => ({ username: 'any', password }),
  }
  await git.clone({ ...access, url })
  const cloned = await git.resolveRef({ fs, dir, ref: 'HEAD' })
  await fs.promises.writeFile(`${dir}/page.txt`, 'from a page\n')
  await git.add({ fs, dir, filepath: 'page.txt' })
  const author = { name: 'Ann', email: 'ann@example.com' }
  const pushed = await git.commit({ fs, dir, message: 'From a page', author })
  await git.push({ ...access, ref: 'main' })
  return { cloned, pushed }
}

// What the client takes for granted, and browsers have not.
Object.assign(globalThis, { Buffer, cloneAndPush })

export type CloneAndPush = typeof cloneAndPush
