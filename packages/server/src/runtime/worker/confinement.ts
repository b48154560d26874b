import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const WITHIN = join(import.meta.dirname, 'within.sh')
/** Where the loader and the libraries of a program are, on whatever system this is. */
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache']
const PROBE_MS = 10_000

/** The program itself: its package has an installation step for what is only a shortcut to this. */
function findWorkerd(): string | undefined {
  const { resolve } = createRequire(import.meta.url)
  try {
    const workerd = createRequire(resolve('workerd/package.json'))
    const name = `@cloudflare/workerd-${process.platform}-${arch() === 'x64' ? '64' : arch()}`
    return join(dirname(workerd.resolve(`${name}/package.json`)), 'bin/workerd')
  } catch {
    return undefined
  }
}

/**
 * Nothing of the machine but the program, its libraries and its own directory; no network, no other process. No session of
 * its own either: whoever starts it has made one, which tells the kernel how nice it is.
 */
const bubblewrapped = (bubblewrap: string, workerd: string, directory: string): string[] => [
  bubblewrap,
  ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--clearenv'],
  ...['--hostname', 'worker', '--dev', '/dev', '--tmpfs', '/tmp'],
  ...LIBRARIES.flatMap((path) => ['--ro-bind-try', path, path]),
  ...['--ro-bind', workerd, '/workerd', '--bind', directory, '/run/worker', '--chdir', '/run/worker'],
  ...['--remount-ro', '/', '--', '/workerd'],
]

interface Confinement {
  workerd: string
  /** Without it the process is an ordinary one of the server's user. */
  bubblewrap: string | undefined
}

/** How workerd can be run here, or why it cannot: what is installed may be refused what it needs. */
export async function findConfinement(workerd = findWorkerd()): Promise<Confinement | { reason: string }> {
  if (!workerd)
    return {
      reason: `there is no workerd for ${process.platform} on ${arch()}, or it was not installed: npm ci without --omit=optional`,
    }
  for (const bubblewrap of ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'])
    if (existsSync(bubblewrap) && !(await tryOut(bubblewrapped(bubblewrap, workerd, import.meta.dirname))))
      return { workerd, bubblewrap }
  const error = await tryOut([workerd])
  if (error === undefined) return { workerd, bubblewrap: undefined }
  return { reason: `workerd does not start here (${error}). It needs macOS, or Linux with a recent glibc` }
}

/** What went wrong. */
async function tryOut([program = '', ...args]: readonly string[]): Promise<string | undefined> {
  try {
    await promisify(execFile)(program, [...args, '--version'], { timeout: PROBE_MS, env: {} })
    return undefined
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    return (stderr.trim().split('\n').at(-1) || message).slice(0, 300)
  }
}

/** What to start, in the directory of the process, with a pipe as stdin. */
export function commandFor(
  { workerd, bubblewrap }: Confinement,
  directory: string,
  dataMb: number,
): string[] {
  const program = bubblewrap ? bubblewrapped(bubblewrap, workerd, directory) : [workerd]
  return ['/bin/sh', WITHIN, String(dataMb * 1024), ...program]
}
