// Builds the console into dist, with compressed files beside those that are worth it: the server only reads.

import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'

const here = import.meta.dirname
const dist = join(here, 'dist')
/** Fonts and images are compressed as they are. */
const COMPRESSIBLE = /\.(js|css|html|svg|json|wasm)$/
/** Smaller ones fit into a packet. */
const WORTHWHILE_BYTES = 1024
/** Nearly as small as the best, in a tenth of the time. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 8 } }

await build({ root: here, logLevel: 'error' }).catch(async (error) => {
  // What is there now does not belong together.
  await rm(dist, { recursive: true, force: true })
  throw error
})
await Promise.all((await filesIn(dist)).filter((file) => COMPRESSIBLE.test(file)).map(compress))

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

async function compress(file: string): Promise<void> {
  const bytes = await readFile(file)
  if (bytes.length < WORTHWHILE_BYTES) return
  await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, brotli))
  await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 7 }))
}
