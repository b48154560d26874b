// What a run sees of the machine, and what it is started with.

import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

export const PROGRAMS_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const STAGE = join(import.meta.dirname, 'stage.sh')

/**
 * Whom runs belong to when the server is root: of the numbers that systemd's list of users and groups gives to nobody, and
 * small enough to exist in containers.
 */
export const SANDBOX_UID = 60_999
/** Who they are inside. */
const INSIDE_ID = '1000'

/** Where things are inside. Below /run/trellis is what the server brings. */
export const INSIDE = {
  tree: '/repo',
  node: '/run/trellis/bin/node',
  wrapper: '/run/trellis/inside/wrapper.js',
}

/** What programs of the machine need to start, besides /usr. */
const ETC = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/perl',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
]
const BESIDE_USR = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** How a machine can confine processes. */
export interface Confinement {
  bubblewrap: string
  /** How the tree becomes writable: as a layer over the one that is kept, or by copying that. */
  view: 'overlay' | 'copy'
  /** Whom processes belong to; undefined when it is whom the server belongs to. */
  uid: number | undefined
  /** Whether bubblewrap can keep users from making namespaces of their own. */
  canEndNamespaces: boolean
  /** Whether the kernel counts processes by namespace, so that a limit on them is one for the run. */
  countsByNamespace: boolean
}

export interface Launch {
  confinement: Confinement
  /** Holds the skeleton and the filter, and what the next two are relative to. */
  directory: string
  run: string
  tree: string
  node: string
  /** What is below what runs see of the machine, and yet not for them. */
  hidden: readonly string[]
  /** Files that a process writes itself into to be counted. */
  groups: readonly string[]
  /** Whether control groups see to it. */
  isMemoryCounted: boolean
  areProcessesCounted: boolean
  memoryMb: number
  diskBytes: number
  processes: number
  openFiles: number
}

interface Command {
  program: string
  args: string[]
  cwd: string
  env: Record<string, string>
}

const FILE_BYTES = 4096
/** Of memory that is a process's own: what Node has without having used it. A backstop, where nothing better is. */
const IDLE_DATA_MB = 1024

/** What to start, with descriptors 3 and 4 for what is said. `program` stands in for the module, to try it out. */
export function commandFor(launch: Launch, program?: readonly string[]): Command {
  const { confinement, directory, run, tree, node, groups, diskBytes } = launch
  const { view, uid } = confinement
  const namespaces = uid === undefined ? ['--user', '--map-root-user', '--mount'] : ['--mount']
  const become =
    uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--']
  return {
    program: 'unshare',
    args: [
      ...[...namespaces, '--propagation', 'private', '--', '/bin/sh', STAGE, ...groups, '--'],
      ...[...become, ...bubblewrap(launch), '--', ...limits(launch), ...(program ?? nodeFor(launch))],
    ],
    cwd: directory,
    env: {
      PATH: PROGRAMS_PATH,
      LC_ALL: 'C',
      RUN: run,
      TREE: tree,
      NODE: node,
      VIEW: view,
      OVERLAY_OPTIONS: uid === undefined ? ',userxattr' : '',
      BYTES: String(diskBytes),
      FILES: String(Math.ceil(diskBytes / FILE_BYTES)),
      OPEN_FILES: String(launch.openFiles),
    },
  }
}

const bubblewrap = ({ confinement, hidden }: Launch): string[] => [
  confinement.bubblewrap,
  ...['--unshare-all', '--unshare-user', ...(confinement.canEndNamespaces ? ['--disable-userns'] : [])],
  ...['--uid', INSIDE_ID, '--gid', INSIDE_ID, '--hostname', 'sandbox'],
  ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--seccomp', '9', '--clearenv'],
  ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
  ...['--ro-bind', '/usr', '/usr', ...BESIDE_USR.flatMap(asOnHost)],
  ...ETC.flatMap((path) => ['--ro-bind-try', path, path]),
  ...hidden.filter(isShown).flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
  // What is found in /tmp is what stage.sh has put there.
  ...['passwd', 'group', 'hosts', 'nsswitch.conf'].flatMap((name) => [
    ...['--ro-bind', `/tmp/inside/${name}`, `/etc/${name}`],
  ]),
  ...['--proc', '/proc', '--dev', '/dev', '--bind', '/tmp/shm', '/dev/shm', '--remount-ro', '/dev'],
  ...['--ro-bind', '/tmp/node', INSIDE.node, '--ro-bind', '/tmp/inside', '/run/trellis/inside'],
  ...['--bind', '/tmp/tree', INSIDE.tree, '--bind', '/tmp/tmp', '/tmp'],
  ...['--remount-ro', '/', '--chdir', INSIDE.tree],
]

const ENVIRONMENT = {
  PATH: '/run/trellis/bin:/usr/local/bin:/usr/bin:/bin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
  USER: 'sandbox',
}

/** On many systems these are links into /usr. */
function asOnHost(path: string): string[] {
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink()
    ? ['--symlink', readlinkSync(path), path]
    : ['--ro-bind', path, path]
}

const isShown = (path: string) => ['/usr', ...BESIDE_USR].some((shown) => path.startsWith(`${shown}/`))

/** Set inside, where they count for this namespace alone, and only where control groups do not count. */
function limits({
  confinement,
  areProcessesCounted,
  isMemoryCounted,
  memoryMb,
  processes,
}: Launch): string[] {
  // Whoever gets beyond what is allowed is to be seen there.
  const most = Math.ceil(processes * 1.5)
  const wanted = [
    ...(areProcessesCounted || !confinement.countsByNamespace ? [] : [`--nproc=${most}:${most}`]),
    ...(isMemoryCounted ? [] : [`--data=${(memoryMb + IDLE_DATA_MB) * 2 ** 20}`]),
  ]
  return wanted.length > 0 ? ['/usr/bin/prlimit', ...wanted, '--'] : []
}

const nodeFor = ({ memoryMb }: Launch): string[] => [
  INSIDE.node,
  `--max-old-space-size=${memoryMb}`,
  INSIDE.wrapper,
]

/** What every run finds around its tree, by its name in the stage. */
const INSIDE_FILES: Readonly<Record<string, string>> = {
  'package.json': '{"type":"module"}\n',
  passwd: `sandbox:x:${INSIDE_ID}:${INSIDE_ID}::/tmp:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n`,
  group: `sandbox:x:${INSIDE_ID}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
}

/** Made once, and copied for every run. */
export async function makeSkeleton(
  directory: string,
  wrapper: string,
  owner: number | undefined,
): Promise<void> {
  const files = { ...INSIDE_FILES, [basename(INSIDE.wrapper)]: wrapper }
  await rm(directory, { recursive: true, force: true })
  await makeDirectory(directory)
  await makeDirectory(join(directory, 'inside'))
  for (const [name, text] of Object.entries(files)) await makeFile(join(directory, 'inside', name), text)
  await makeFile(join(directory, 'node'), '')
  for (const name of ['upper', 'work', 'tree', 'tmp', 'shm']) {
    await makeDirectory(join(directory, name))
    if (owner !== undefined) await chown(join(directory, name), owner, owner)
  }
}

// The server makes everything for itself alone, by its umask; these are for whoever the run is.

async function makeDirectory(path: string): Promise<void> {
  await mkdir(path)
  await chmod(path, 0o755)
}

async function makeFile(path: string, text: string): Promise<void> {
  await writeFile(path, text)
  await chmod(path, 0o644)
}
