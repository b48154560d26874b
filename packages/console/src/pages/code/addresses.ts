import type { TreeEntry } from '@trellis/contract'
import { pages, query } from '../../api/queries.ts'

// What code pages ask for, and how a ref and a path stand in their addresses.

/** Behind `/tree/`, `/blob/` and the like: a ref, which may have slashes, and a path. */
export const addressOf = (ref: string, path: string): string => (path ? `${ref}/${path}` : ref)

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** As people say it: a commit by its first letters. */
export const refInWords = ({ ref, type }: { ref: string; type: string }): string =>
  type === 'commit' ? ref.slice(0, 7) : ref

/** What never changes need not be asked for again. */
const FOREVER = { staleTime: Number.POSITIVE_INFINITY }

/** Which ref an address begins with, and what is at the path behind it. */
export const locateQuery = (org: string, name: string, address: string) =>
  query(org, (api) => api.git.locate, { name, address })

export const overviewQuery = (org: string, name: string) => query(org, (api) => api.repos.overview, { name })

interface Directory {
  org: string
  name: string
  commit: string
  path: string
}

/** As many entries as an answer has. */
const ENTRIES = 100

const directoryInput = ({ name, commit, path }: Directory) => ({
  name,
  ref: commit,
  limit: ENTRIES,
  ...(path && { path }),
})

/** The entries of a directory, page by page. */
export const treeQuery = (directory: Directory) => ({
  ...pages(directory.org, (api) => api.git.trees.get, directoryInput(directory)),
  ...FOREVER,
})

/** What changed the entries of one of those pages last. */
export const lastChangesQuery = (directory: Directory, cursor: string) =>
  query(directory.org, (api) => api.git.trees.lastChanges, {
    ...directoryInput(directory),
    ...(cursor && { cursor }),
  })

export const blobQuery = (org: string, name: string, oid: string) => ({
  ...query(org, (api) => api.git.blobs.get, { name, oid }),
  ...FOREVER,
})

interface FileAt {
  org: string
  name: string
  commit: string
  path: string
}

/** Where the bytes of a file are, to be looked at or kept. */
export const rawPath = ({ org, name, commit, path }: FileAt, keep = false): string =>
  `/api/v1/git/raw?${new URLSearchParams({ org, name, ref: commit, path, ...(keep && { download: '1' }) })}`

/** All files at a ref, in one to keep. */
export const archivePath = (
  at: { org: string; name: string; ref: string },
  format: 'zip' | 'tar.gz',
): string => `/api/v1/git/archive?${new URLSearchParams({ org: at.org, name: at.name, ref: at.ref, format })}`

/** Larger ones are not put on a page. */
export const MOST_SHOWN_BYTES = 2 * 1024 * 1024

export const isSymlink = ({ mode }: TreeEntry): boolean => mode === '120000'
export const isExecutable = ({ mode }: TreeEntry): boolean => mode === '100755'

const IMAGE = /\.(png|jpe?g|gif|webp|avif|svg|ico|bmp)$/i
const MARKDOWN = /\.(md|markdown|mdown|mkd)$/i
const README = /^readme(\.(md|markdown|txt|rst|adoc))?$/i

export const isImage = (path: string): boolean => IMAGE.test(path)
export const isMarkdown = (path: string): boolean => MARKDOWN.test(path)

/** The file that says what a directory is; one that can be rendered first. */
export function readmeOf(entries: readonly TreeEntry[]): TreeEntry | undefined {
  const found = entries.filter(
    ({ name, type, mode }) => type === 'blob' && mode !== '120000' && README.test(name),
  )
  return found.find(({ name }) => isMarkdown(name)) ?? found[0]
}
