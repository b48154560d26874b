import { execFile } from 'node:child_process'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { npm } from './packed-contract.ts'

const run = promisify(execFile)
const cache = resolve(import.meta.dirname, '../node_modules/.cache')

/** A Node of an older major version: the machine's own, or one from npm; undefined where neither can be had. */
export async function findNode(major: number): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
  const candidates = [...folders.map((folder) => join(folder, 'node')), fetched(major)]
  for (const node of candidates) if ((await majorOf(node)) === major) return node
  return fetchNode(major).catch(() => undefined)
}

const nameOfPackage = `node-${process.platform}-${process.arch}`
const fetched = (major: number) => join(cache, `node-${major}/node_modules/${nameOfPackage}/bin/node`)

/** Once for all runs. The package of one platform is the binary alone, so nothing has to run to install it. */
async function fetchNode(major: number): Promise<string> {
  const partial = join(cache, `node-${major}-${process.pid}`)
  await mkdir(partial, { recursive: true })
  try {
    const options = ['--prefix', partial, '--ignore-scripts', '--fetch-retries=0']
    await npm(partial, 'install', ...options, `${nameOfPackage}@${major}`)
    await rename(partial, join(cache, `node-${major}`))
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
  await access(fetched(major))
  return fetched(major)
}

async function majorOf(node: string): Promise<number | undefined> {
  const { stdout } = await run(node, ['--version']).catch(() => ({ stdout: '' }))
  const [, major] = /^v(\d+)\./.exec(stdout) ?? []
  return major === undefined ? undefined : Number(major)
}
