import type { Handlers } from '../operations/handlers.ts'
import type { BrowseService } from './browse.ts'
import type { CommitsService } from './commits.ts'
import type { ForksService } from './forks.ts'
import type { ImportsService } from './imports.ts'
import type { RefsService } from './refs.ts'
import type { RulesService } from './rules-service.ts'

export const gitHandlers = (
  refs: RefsService,
  commits: CommitsService,
  browse: BrowseService,
): Handlers['git'] => ({
  refs: {
    list: (input, { caller }) => refs.listAll(caller, input),
    update: (input, { caller }) => refs.update(caller, input),
  },
  branches: {
    list: (input, { caller }) => refs.listBranches(caller, input),
    create: (input, { caller }) => refs.createBranch(caller, input),
    delete: (input, { caller }) => refs.deleteBranch(caller, input),
  },
  tags: {
    list: (input, { caller }) => refs.listTags(caller, input),
    create: (input, { caller }) => commits.createTag(caller, input),
    delete: (input, { caller }) => refs.deleteTag(caller, input),
  },
  commits: {
    list: (input, { caller }) => browse.listCommits(caller, input),
    get: (input, { caller }) => browse.getCommit(caller, input),
    create: (input, { caller }) => commits.create(caller, input),
  },
  trees: { get: (input, { caller }) => browse.getTree(caller, input) },
  blobs: { get: (input, { caller }) => browse.getBlob(caller, input) },
  compare: (input, { caller }) => browse.compare(caller, input),
  merge: (input, { caller }) => commits.merge(caller, input),
})

export const rulesHandlers = (rules: RulesService): Handlers['rules'] => ({
  list: (input, { caller }) => rules.list(caller, input),
  set: (input, { caller }) => rules.set(caller, input),
  delete: (input, { caller }) => rules.delete(caller, input),
})

export const originHandlers = (
  forks: ForksService,
  imports: ImportsService,
): Pick<NonNullable<Handlers['repos']>, 'fork' | 'import'> => ({
  fork: (input, { caller }) => forks.fork(caller, input),
  import: (input, { caller }) => imports.import(caller, input),
})
