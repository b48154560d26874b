// Half of what a server loads is packages, hundreds of small modules, and the tests load them a hundred times. So they
// are bundled once, and `light-packages.ts` has them taken from there.

import { createHash } from 'node:crypto'
import { glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = resolve(import.meta.dirname, '..')
const SERVER = join(root, 'packages/server')
const IMPORTED = /^(?:import|export|\}) .*?from '((?:@[a-z-]+\/)?[a-z][^':]*)'$/gm
/** Not modules, so that what they export is not known; and what is not for Node. */
const LEFT = /^(ajv|pg|prom-client|esbuild|fast-check|undici|smtp-server|@trellis|@seriousme)($|\/)/

/** Makes what is missing, and gives the file that says where packages are. */
export async function bundlePackages(): Promise<string> {
  const names = await importedNames()
  const lock = await readFile(join(root, 'package-lock.json'))
  const key = createHash('sha256').update(lock).update(JSON.stringify(names)).digest('hex').slice(0, 16)
  const directory = join(root, 'node_modules/.cache/packages', key)
  const list = join(directory, 'packages.json')
  if (await readFile(list).catch(() => undefined)) return list
  const making = `${directory}.${process.pid}`
  await mkdir(making, { recursive: true })
  await build({
    absWorkingDir: SERVER,
    entryPoints: names.map((name, i) => ({ in: name, out: String(i) })),
    outdir: making,
    outExtension: { '.js': '.mjs' },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node26' },
    logLevel: 'error',
    // What is no module asks for others as those do.
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
    },
  })
  const places = names.map((name, i) => [name, pathToFileURL(join(directory, `${i}.mjs`)).href])
  await writeFile(join(making, 'packages.json'), JSON.stringify(Object.fromEntries(places)))
  // Whoever was faster made the same.
  await rename(making, directory).catch(() => rm(making, { recursive: true }))
  return list
}

async function importedNames(): Promise<string[]> {
  const found = new Set<string>()
  for await (const file of glob('packages/*/src/**/*.ts', { cwd: root }))
    for (const [, name = ''] of (await readFile(join(root, file), 'utf8')).matchAll(IMPORTED))
      if (!LEFT.test(name)) found.add(name)
  return [...found].sort()
}
