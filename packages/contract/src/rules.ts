import * as z from 'zod'
import { Id, RepoName } from './names.ts'
import { operation } from './operation.ts'

/**
 * Which refs: a glob over full names when it begins with `refs/`, else over the names of branches. `HEAD` stands for the
 * default branch, whichever that is.
 */
export const RefPattern = z.string().min(1).max(128)

/** Who may do it all the same. */
export const RefException = z.object({
  /** Roles (each with those above it), and ids of credentials, people or agents. */
  except: z.array(Id.max(128)).max(50).default([]),
})

/** What is refused on the refs that a pattern matches. */
export const RefRefusals = z.object({
  /** Making such a ref. */
  create: RefException.optional(),
  /** Deleting one. */
  delete: RefException.optional(),
  /** Moving a branch so that it loses commits, or moving anything else that exists. */
  force: RefException.optional(),
  /** Every change but a merge through `git/merge`. */
  push: RefException.optional(),
})
export type RefRefusals = z.infer<typeof RefRefusals>

export const RefRule = z.object({ pattern: RefPattern, refuse: RefRefusals })
export type RefRule = z.infer<typeof RefRule>

const tag = 'Rules'

export const rules = {
  list: operation('/rules/list', {
    summary: 'List the rules for the refs of a repository',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(z.object({ name: RepoName }))
    .output(z.object({ items: z.array(RefRule), nextCursor: z.string().nullable() })),
  set: operation('/rules/set', {
    summary: 'Say what is refused on some refs, in place of what was said of the same pattern',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND', 'QUOTA_EXCEEDED'],
  })
    .input(z.object({ name: RepoName, pattern: RefPattern, refuse: RefRefusals }))
    .output(RefRule),
  delete: operation('/rules/delete', {
    summary: 'Remove the rule for a pattern; false when there is none',
    tag,
    needs: 'repo:admin',
    errors: ['REPO_NOT_FOUND'],
  })
    .input(z.object({ name: RepoName, pattern: RefPattern }))
    .output(z.object({ deleted: z.boolean() })),
}
