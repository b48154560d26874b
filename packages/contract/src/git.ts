import { commits, merge } from './git-commits.ts'
import { compare } from './git-compare.ts'
import { blobs, trees } from './git-contents.ts'
import { branches, refs, tags } from './git-refs.ts'

export const git: {
  refs: typeof refs
  branches: typeof branches
  tags: typeof tags
  commits: typeof commits
  trees: typeof trees
  blobs: typeof blobs
  compare: typeof compare
  merge: typeof merge
} = { refs, branches, tags, commits, trees, blobs, compare, merge }
