import { Fault } from '../platform/fault.ts'
import type { RepoRow } from '../repos/service.ts'
import type { SurveyProblem } from './surveys.ts'

const REASONS_SHOWN = 20

/** The first of the folders that cannot be used, and all that is wrong with it. */
export function brokenFault(repo: RepoRow, problems: readonly SurveyProblem[]): Fault {
  const [first] = problems
  const { folder = '', from } = first ?? {}
  const same = problems.filter((problem) => problem.folder === folder && problem.from === from)
  const lines = same.slice(0, REASONS_SHOWN)
  if (from === 'build') {
    const message = lines.map((problem) => problem.message).join('\n')
    return new Fault('EXTENSION_BUILD_FAILED', { name: repo.name, message: `${folder}: ${message}` })
  }
  const reason = lines.map(({ path, message }) => `${path}: ${message}`).join('\n')
  const [, extension] = /^extensions\/(.+)$/.exec(folder) ?? []
  return new Fault('EXTENSION_INVALID', { name: repo.name, reason, ...(extension && { extension }) })
}
