import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** A file of the built console, in every form it can be sent in. */
export interface ConsoleFile {
  type: string
  etag: string
  /** Its name changes with what is in it. */
  isLasting: boolean
  plain: Buffer
  br?: Buffer
  gzip?: Buffer
}

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  wasm: 'application/wasm',
  woff2: 'font/woff2',
}
/** As the build names what it makes: `index-BEsrWNf2.js`. */
const LASTING = /^\/assets\/.+-[\w-]{8}\.\w+$/

/** Beside this package, where the build puts it. */
export const CONSOLE_DIRECTORY: string = join(import.meta.dirname, '../../../../console/dist')

/**
 * Reads the whole console, which is a few megabytes, so that no path of a request ever becomes one of a file. By the
 * path it is served at; empty where it has not been built.
 */
export async function readConsole(directory: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'))
  const known = new Set(names)
  const read = (name: string) => readFile(join(directory, name))
  const files = new Map<string, ConsoleFile>()
  for (const name of names) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (!type) continue
    const plain = await read(name)
    files.set(`/${name}`, {
      type,
      etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
      isLasting: LASTING.test(`/${name}`),
      plain,
      ...(known.has(`${name}.br`) && { br: await read(`${name}.br`) }),
      ...(known.has(`${name}.gz`) && { gzip: await read(`${name}.gz`) }),
    })
  }
  return files
}
