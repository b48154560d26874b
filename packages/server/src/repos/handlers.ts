import type { Handlers } from '../operations/handlers.ts'
import type { ReposService } from './service.ts'

export const reposHandlers = (repos: ReposService): Handlers['repos'] => ({
  list: (input, { caller }) => repos.list(caller, input),
  search: (input, { caller, signal }) => repos.search(caller, input, signal),
  create: (input, { caller }) => repos.create(caller, input),
  get: (input, { caller }) => repos.get(caller, input),
  update: (input, { caller }) => repos.update(caller, input),
  delete: (input, { caller }) => repos.delete(caller, input),
})
