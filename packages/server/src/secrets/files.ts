import { randomUUID } from 'node:crypto'
import { link, open, readFile, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The secret kept in a file; when there is none yet, a new one, on disk before this returns. */
export async function keptSecret(path: string, make: () => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  try {
    await writeSecretFile(path, make())
  } catch (error) {
    // Another process was quicker: its secret is the one.
    if (codeOf(error) !== 'EEXIST') throw error
  }
  return (await readFile(path, 'utf8')).trim()
}

/** Writes a file only its owner can read, whole or not at all, and never over one that exists. */
async function writeSecretFile(path: string, secret: string): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${secret}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(draft, path)
  } finally {
    await unlink(draft)
  }
  const directory = await open(dirname(path), 'r')
  await directory.sync().finally(() => directory.close())
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
