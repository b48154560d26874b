import { randomUUID } from 'node:crypto'
import { type FileHandle, link, open, readFile, stat, unlink } from 'node:fs/promises'
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
    await giveToOwnerOf(dirname(path), file)
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

/** Root writes it for the user that the directory belongs to, who could not read it otherwise. */
async function giveToOwnerOf(directory: string, file: FileHandle): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(directory)
  if (uid === 0) return
  // In a container root may not be all that root is.
  await file.chown(uid, gid).catch((error: unknown) => {
    if (!['EPERM', 'EINVAL'].includes(codeOf(error) ?? '')) throw error
  })
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code
