// Most of what it takes to start a server is to load it: hundreds of modules. So it is bundled once for all tests, and
// those whose subject is not how operators start it start the bundle.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = resolve(import.meta.dirname, '..')
/** What operators start. */
export const MAIN = join(root, 'packages/server/src/main.ts')

const BUNDLE = join(root, 'node_modules/.cache/server/main.mjs')

/** The variable that names the bundle. */
export const SERVER = 'LIGHT_SERVER'

/** The server that tests start. */
export const lightMain = (): string => process.env[SERVER] ?? MAIN

/** Makes it of the sources as they are now, and gives its file. */
export async function bundleServer(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [MAIN],
    ...{ bundle: true, format: 'esm', platform: 'node', target: 'node26', write: false },
    ...{ external: ['pg-native', 'esbuild'], logLevel: 'error', plugins: [whereSourcesAre] },
    // What is no module asks for others as those do.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
  })
  const text = outputFiles[0]?.contents ?? Buffer.of()
  const making = `${BUNDLE}.${process.pid}`
  await mkdir(dirname(BUNDLE), { recursive: true })
  await writeFile(making, text)
  await rename(making, BUNDLE)
  return BUNDLE
}

/** Threads, processes and scripts that sources start are beside them, not beside the bundle. */
const whereSourcesAre: Plugin = {
  name: 'where sources are',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/server\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.main', 'false')
      return { contents, loader: 'ts' }
    })
  },
}
