import { rm } from 'node:fs/promises'
import type { Oid } from '../names.ts'
import { GitOverLimit } from '../process/allowances.ts'
import type { OpenRepo } from '../process/command.ts'

/** With the directory in front it has to be one that everybody can name, and remove. */
const MAX_PATH_BYTES = 2_000

interface CheckOut {
  commit: Oid
  /** Empty, and nobody else's. */
  directory: string
  maxBytes: number
  maxFiles: number
}

/**
 * Writes the files of a commit. Links are made and never followed, modules of others are empty directories, and what leads
 * out of the tree is refused by git. No filter, hook or attribute of the commit starts a program: those are all named
 * in the configuration, of which there is none. Where attributes ask for other ends of lines or another encoding, files have them.
 * Throws GitOverLimit for more than it may be: a commit of few bytes can have any number of files.
 */
export async function checkOutTree(
  repo: OpenRepo,
  { commit, directory, ...bounds }: CheckOut,
): Promise<void> {
  await requireWithin(repo, commit, bounds)
  const indexFile = `${directory}.index`
  const here = { workTree: { directory, indexFile } }
  try {
    await repo.run({ ...here, verb: 'read-tree', values: [commit] })
    // Many files on a busy disk take longer than a look.
    await repo.run({ ...here, verb: 'checkout-index', options: ['--all', '--quiet'], work: 'check' })
  } finally {
    await rm(indexFile, { force: true })
  }
}

/** Looks at no more of it than is allowed. */
async function requireWithin(
  repo: OpenRepo,
  commit: Oid,
  { maxBytes, maxFiles }: { maxBytes: number; maxFiles: number },
): Promise<void> {
  const options = ['-r', '-z', '--full-tree', '--format=%(objectsize) %(path)'] as const
  await using listing = await repo.start({ verb: 'ls-tree', options, values: [commit] })
  let bytes = 0
  let files = 0
  let rest = ''
  for await (const chunk of listing.stdout.setEncoding('latin1') as AsyncIterable<string>) {
    const entries = `${rest}${chunk}`.split('\0')
    rest = entries.pop() ?? ''
    files += entries.length
    for (const entry of entries) {
      // A module of another repository has no size.
      bytes += Number.parseInt(entry, 10) || 0
      if (entry.length > MAX_PATH_BYTES) throw new GitOverLimit('The commit has a path that is too long')
    }
    if (files > maxFiles) throw new GitOverLimit(`The commit has more than ${maxFiles} files`)
    if (bytes > maxBytes) throw new GitOverLimit(`The files of the commit are larger than ${maxBytes} bytes`)
  }
  await listing.done
}
