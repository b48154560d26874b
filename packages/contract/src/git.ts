import { blame } from './git-blame.ts'
import { commits, merge, mergePreview } from './git-commits.ts'
import { compare, diff } from './git-compare.ts'
import { blobs, files, trees } from './git-contents.ts'
import { grep } from './git-grep.ts'
import { locate } from './git-locate.ts'
import { branches, refs, tags } from './git-refs.ts'

export const git: {
  refs: typeof refs
  branches: typeof branches
  tags: typeof tags
  commits: typeof commits
  trees: typeof trees
  blobs: typeof blobs
  locate: typeof locate
  files: typeof files
  blame: typeof blame
  grep: typeof grep
  compare: typeof compare
  diff: typeof diff
  merge: typeof merge
  mergePreview: typeof mergePreview
} = {
  refs,
  branches,
  tags,
  commits,
  trees,
  blobs,
  locate,
  files,
  blame,
  grep,
  compare,
  diff,
  merge,
  mergePreview,
}
