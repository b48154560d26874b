// In this repository the package is its TypeScript, and nothing has to be built before it can be used; whoever installs
// it gets JavaScript. So two sets of exports are needed, and `npm pack` knows only one: unlike pnpm it does not put
// `publishConfig` in place. It runs this before and after instead.

import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const manifest = join(import.meta.dirname, 'package.json')
const kept = join(import.meta.dirname, '.package.json.kept')

if (process.argv[2] === 'publish') {
  // One that is kept already was left by a pack that was interrupted: that is the real one.
  if (!existsSync(kept)) await copyFile(manifest, kept)
  const { publishConfig, scripts: _, ...rest } = JSON.parse(await readFile(kept, 'utf8'))
  await writeFile(manifest, `${JSON.stringify({ ...rest, ...publishConfig }, null, 2)}\n`)
} else if (existsSync(kept)) await rename(kept, manifest)
