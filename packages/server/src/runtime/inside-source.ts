import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { promisify } from 'node:util'

const ARGUMENTS = [
  ...['--bundle', '--format=esm', '--platform=neutral', '--target=es2024', '--charset=utf8'],
  ...['--external:cloudflare:*', '--external:node:*', '--external:./module.js', '--log-level=error'],
]

/** One file of JavaScript from a file of this server and what it imports, to run where the server does not. */
export async function insideSource(entry: string): Promise<string> {
  const esbuild = createRequire(createRequire(import.meta.url).resolve('esbuild'))
  // The program itself: the library would keep a process for more of them.
  const program = esbuild.resolve(`@esbuild/${platform()}-${arch()}/bin/esbuild`)
  return (await promisify(execFile)(program, [entry, ...ARGUMENTS], { env: {} })).stdout
}
