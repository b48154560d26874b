import type { Handlers } from '../operations/handlers.ts'
import { afresh } from './afresh.ts'
import type { BlamesService } from './blames.ts'
import type { BranchesService } from './branches.ts'
import type { BrowseService } from './browse.ts'
import type { CommitsService } from './commits.ts'
import type { DiffsService } from './diffs.ts'
import type { FilesService } from './files.ts'
import type { ForksService } from './forks.ts'
import type { GrepsService } from './greps.ts'
import type { ImportsService } from './imports.ts'
import type { LastChangesService } from './last-changes.ts'
import type { LocatingService } from './locating.ts'
import type { MergePreviewsService } from './merge-previews.ts'
import type { PruningService } from './pruning.ts'
import type { RefSearch } from './ref-search.ts'
import type { RefsService } from './refs.ts'
import type { RulesService } from './rules-service.ts'

interface GitServices {
  refs: RefsService
  branches: BranchesService
  commits: CommitsService
  browse: BrowseService
  lastChanges: LastChangesService
  blames: BlamesService
  diffs: DiffsService
  files: FilesService
  greps: GrepsService
  mergePreviews: MergePreviewsService
  locating: LocatingService
  refSearch: RefSearch
}

export const gitHandlers = ({
  refs,
  branches,
  commits,
  browse,
  ...looking
}: GitServices): Handlers['git'] => ({
  refs: {
    list: (input, { caller }) => refs.listAll(caller, input),
    search: (input, { caller, signal }) => looking.refSearch(caller, input, signal),
    update: (input, { caller, signal }) => afresh(() => refs.update(caller, input, signal)),
  },
  branches: {
    list: (input, { caller }) => refs.listBranches(caller, input),
    create: (input, { caller, signal }) => afresh(() => refs.createBranch(caller, input, signal)),
    compare: (input, { caller, signal }) => branches.compare(caller, input, signal),
    delete: (input, { caller, signal }) => refs.deleteBranch(caller, input, signal),
  },
  tags: {
    list: (input, { caller }) => refs.listTags(caller, input),
    create: (input, { caller, signal }) => afresh(() => commits.createTag(caller, input, signal)),
    delete: (input, { caller, signal }) => refs.deleteTag(caller, input, signal),
  },
  commits: {
    list: (input, { caller, signal }) => browse.listCommits(caller, input, signal),
    get: (input, call) => browse.getCommit(call.caller, input, call),
    create: (input, { caller, signal }) => afresh(() => commits.create(caller, input, signal)),
  },
  trees: {
    get: (input, { caller, signal }) => browse.getTree(caller, input, signal),
    lastChanges: (input, { caller, signal }) => looking.lastChanges.list(caller, input, signal),
  },
  blobs: { get: (input, call) => browse.getBlob(call.caller, input, call) },
  blame: (input, { caller, signal }) => looking.blames.read(caller, input, signal),
  grep: (input, { caller, signal }) => looking.greps.search(caller, input, signal),
  files: (input, { caller, signal }) => looking.files.find(caller, input, signal),
  locate: (input, { caller, signal }) => looking.locating.locate(caller, input, signal),
  compare: (input, { caller, signal }) => browse.compare(caller, input, signal),
  diff: (input, { caller, signal }) => looking.diffs.read(caller, input, signal),
  mergePreview: (input, { caller, signal }) => looking.mergePreviews.preview(caller, input, signal),
  merge: (input, { caller, signal }) => afresh(() => commits.merge(caller, input, signal)),
})

export const rulesHandlers = (rules: RulesService): Handlers['rules'] => ({
  list: (input, { caller }) => rules.list(caller, input),
  set: (input, { caller }) => rules.set(caller, input),
  delete: (input, { caller }) => rules.delete(caller, input),
})

export const storageHandlers = (
  forks: ForksService,
  imports: ImportsService,
  pruning: PruningService,
): Pick<NonNullable<Handlers['repos']>, 'fork' | 'import' | 'purge'> => ({
  fork: (input, { caller, signal }) => forks.fork(caller, input, signal),
  import: (input, { caller, signal }) => imports.import(caller, input, signal),
  purge: (input, { caller, signal }) => pruning.purge(caller, input, signal),
})
