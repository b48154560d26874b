// How much of the machine a git command may take. What comes from outside can be made so that git needs far more for it
// than its bytes suggest: 625 bytes of nested trees took a comparison to 2.8 GB.

/** A kind of work; every command is of one. */
export type GitWork = 'look' | 'compare' | 'check' | 'intake' | 'serve' | 'download' | 'import' | 'upkeep'

interface Allowance {
  /** From start to end, whatever it waits for. */
  wallMs: number
  /** What it computes. */
  cpuSeconds: number
  /** Its own memory; packs that are mapped do not count. */
  dataBytes: number
}

const MINUTE_MS = 60_000
const MB = 1024 * 1024

export const allowances: Record<GitWork, Allowance> = {
  // A few objects, or a page of history.
  look: { wallMs: MINUTE_MS, cpuSeconds: 30, dataBytes: 768 * MB },
  // Two trees, or three: the work nobody can foresee.
  compare: { wallMs: 20_000, cpuSeconds: 10, dataBytes: 512 * MB },
  // Whether all that a push needs is there.
  check: { wallMs: 10 * MINUTE_MS, cpuSeconds: 300, dataBytes: 1024 * MB },
  // Resolving the deltas of a pack and looking at every object in it.
  intake: { wallMs: 30 * MINUTE_MS, cpuSeconds: 900, dataBytes: 1024 * MB },
  // As long as the client takes to read, which is bounded elsewhere.
  serve: { wallMs: 120 * MINUTE_MS, cpuSeconds: 900, dataBytes: 1536 * MB },
  // The same, of one commit: its files packed anew, or one of them as it is.
  download: { wallMs: 60 * MINUTE_MS, cpuSeconds: 300, dataBytes: 768 * MB },
  import: { wallMs: 40 * MINUTE_MS, cpuSeconds: 1200, dataBytes: 1536 * MB },
  upkeep: { wallMs: 60 * MINUTE_MS, cpuSeconds: 1800, dataBytes: 2048 * MB },
}

const workOfVerb: Record<string, GitWork> = {
  'diff-tree': 'compare',
  'merge-tree': 'compare',
  'index-pack': 'intake',
  'upload-pack': 'serve',
  'pack-objects': 'serve',
  archive: 'download',
  clone: 'import',
  repack: 'import',
  'multi-pack-index': 'upkeep',
  'commit-graph': 'upkeep',
}

/** What a command is for, when it does not say so itself. */
export const workOf = (verb: string): GitWork => workOfVerb[verb] ?? 'look'

/** Arguments of a shell's `ulimit`, one set a limit. */
export const shellLimits = ({
  cpuSeconds,
  dataBytes,
  fileBytes,
}: Allowance & { fileBytes?: number | undefined }): string[] => [
  `-t ${cpuSeconds}`,
  `-d ${Math.floor(dataBytes / 1024)}`,
  // In blocks of 512 bytes.
  ...(fileBytes === undefined ? [] : [`-f ${Math.ceil(fileBytes / 512)}`]),
]

/** Git wanted more than it is allowed. What it was to do is not done. */
export class GitOverLimit extends Error {
  override readonly name: string = 'GitOverLimit'
}

const OUT_OF_MEMORY =
  /out of memory|cannot allocate memory|malloc failed|unable to create thread|mmap failed/i

/** Whether git ended because of a limit: the kernel ended it, or gave it no more memory. */
export const wasOverLimit = (signal: string | null, stderr: string): boolean =>
  signal === 'SIGXCPU' || signal === 'SIGXFSZ' || signal === 'SIGKILL' || OUT_OF_MEMORY.test(stderr)
