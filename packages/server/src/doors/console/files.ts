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

interface ConsoleFiles {
  /** The paths they are served at. */
  paths: ReadonlySet<string>
  /** Undefined for what is not of the console. */
  find(path: string): Promise<ConsoleFile | undefined>
}

/**
 * The console as it is in a directory, empty where it has not been built. What there is is listed once, so that no path of
 * a request ever becomes one of a file; each is read when it is first asked for, and kept.
 */
export async function openFiles(directory: string): Promise<ConsoleFiles> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const known = new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => `/${relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/')}`),
  )
  const paths = new Set([...known].filter((path) => typeOf(path) !== undefined))
  const kept = new Map<string, Promise<ConsoleFile>>()

  async function read(path: string): Promise<ConsoleFile> {
    const bytesOf = (name: string) => readFile(join(directory, name))
    const [plain, br, gzip] = await Promise.all([
      bytesOf(path),
      known.has(`${path}.br`) ? bytesOf(`${path}.br`) : undefined,
      known.has(`${path}.gz`) ? bytesOf(`${path}.gz`) : undefined,
    ])
    return {
      type: typeOf(path) ?? '',
      etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
      isLasting: LASTING.test(path),
      plain,
      ...(br && { br }),
      ...(gzip && { gzip }),
    }
  }

  return {
    paths,
    async find(path) {
      if (!paths.has(path)) return undefined
      const file = kept.get(path) ?? read(path)
      kept.set(path, file)
      try {
        return await file
      } catch {
        // The console has been built anew since, and this is not of it any more.
        kept.delete(path)
        return undefined
      }
    },
  }
}

const typeOf = (path: string): string | undefined => TYPES[path.slice(path.lastIndexOf('.') + 1)]
