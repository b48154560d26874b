import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
const installed = join(root, 'node_modules')

export interface PackedContract {
  tarball: string
  /** A project that was empty until the tarball was installed into it. */
  project: string
  remove(): Promise<void>
}

/** Packs the contract as it would be published, and installs it into an empty project. */
export async function packContract(): Promise<PackedContract> {
  const home = await mkdtemp(join(tmpdir(), 'trellis-contract-'))
  try {
    const tarball = await pack(home)
    const project = join(home, 'project')
    await install(project, tarball)
    return { tarball, project, remove: () => rm(home, { recursive: true, force: true }) }
  } catch (error) {
    await rm(home, { recursive: true, force: true })
    throw error
  }
}

/** In a copy: packing writes into the package, where others are at work. */
async function pack(home: string): Promise<string> {
  const copy = join(home, 'copy')
  const folder = join(copy, 'packages/contract')
  await cp(join(root, 'packages/contract'), folder, {
    recursive: true,
    filter: (path) => !/\/(dist|node_modules|\.package\.json\.kept)$/.test(path),
  })
  await cp(join(root, 'tsconfig.json'), join(copy, 'tsconfig.json'))
  await symlink(installed, join(copy, 'node_modules'))
  const { stdout } = await npm(folder, 'pack', '--json', '--pack-destination', home)
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  return join(home, filename)
}

/**
 * What the package says it depends on, and what that depends on, is copied from here, so that npm has to fetch nothing;
 * a dependency that it does not declare is missing here as it would be anywhere.
 */
async function install(project: string, tarball: string): Promise<void> {
  await mkdir(project)
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const { stdout: manifest } = await run('tar', ['-xzOf', tarball, 'package/package.json'])
  for (const name of await dependenciesOf(manifest))
    await cp(join(installed, name), join(project, 'node_modules', name), { recursive: true })
  await npm(project, 'install', '--offline', tarball)
}

async function dependenciesOf(manifest: string, found = new Set<string>()): Promise<Set<string>> {
  const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Record<string, string> }
  for (const name of Object.keys(dependencies).filter((name) => !found.has(name))) {
    found.add(name)
    await dependenciesOf(await readFile(join(installed, name, 'package.json'), 'utf8'), found)
  }
  return found
}

export const npm = (cwd: string, ...args: string[]) =>
  run('npm', args, { cwd, env: ownEnvironment(), timeout: 600_000 })

/** Without what the test runner tells its own processes. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, NODE_COMPILE_CACHE: __, ...own } = process.env
  return own
}
