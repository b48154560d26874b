// Where fixtures are kept, and how they come out of their files.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, brotliDecompressSync } from 'node:zlib'
import type { Manifest } from './manifest.ts'

export const FIXTURES = join(import.meta.dirname, 'fixtures')

export const fixtureFiles = (name: string) => ({
  manifest: join(FIXTURES, `${name}.json.br`),
  data: join(FIXTURES, `${name}.tar.br`),
  database: join(FIXTURES, `${name}.sql.br`),
})

/** Not gzip, which does not see that a database file is much the same every 4096 bytes and its log even more so. */
export const writePacked = async (file: string, bytes: Buffer): Promise<void> =>
  writeFile(file, await promisify(brotliCompress)(bytes))

const readPacked = async (file: string): Promise<Buffer> => promisify(brotliDecompress)(await readFile(file))

export interface Fixture {
  name: string
  manifest: Manifest
}

/** At once, because a test file is read without waiting. */
export function readFixtures(): Fixture[] {
  const ending = '.json.br'
  const names = readdirSync(FIXTURES).filter((file) => file.endsWith(ending))
  return names.toSorted().map((file) => ({
    name: file.slice(0, -ending.length),
    manifest: JSON.parse(brotliDecompressSync(readFileSync(join(FIXTURES, file))).toString()),
  }))
}

export async function unpackData({ name }: Fixture, folder: string): Promise<void> {
  const archive = await readPacked(fixtureFiles(name).data)
  await mkdir(folder)
  const tar = spawn('tar', ['-xf', '-', '-C', folder], { stdio: ['pipe', 'ignore', 'inherit'] })
  tar.stdin.end(archive)
  const [code] = await once(tar, 'close')
  if (code !== 0) throw new Error(`tar ended with ${code}`)
}

export const readDump = async ({ name }: Fixture): Promise<string> =>
  (await readPacked(fixtureFiles(name).database)).toString()
