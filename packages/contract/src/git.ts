import { commits, merge } from './git-commits.ts'
import { compare } from './git-compare.ts'
import { blobs, trees } from './git-contents.ts'
import { branches, refs, tags } from './git-refs.ts'

export const git = { refs, branches, tags, commits, trees, blobs, compare, merge }
