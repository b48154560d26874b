import * as z from 'zod'
import { Id, RepoName } from './names.ts'
import { operation } from './operation.ts'

export const RefPattern = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description:
      'Which refs: a glob over full names when it begins with `refs/`, else over the names of branches. `HEAD` stands ' +
      'for the default branch, whichever that is.',
    examples: ['release/*', 'refs/tags/v*', 'HEAD'],
  })

export const RefException = z
  .strictObject({
    except: z
      .array(Id.max(128))
      .max(50)
      .default([])
      .meta({
        description: 'Roles, each with those above it, and ids of credentials, people or agents.',
        examples: [['admin']],
      }),
  })
  .describe('Who may do it all the same.')

export const RefRefusals = z
  .strictObject({
    create: RefException.optional().describe('Making such a ref.'),
    delete: RefException.optional().describe('Deleting one.'),
    force: RefException.optional().describe(
      'Moving a branch so that it loses commits, or moving anything else that exists.',
    ),
    push: RefException.optional().describe('Every change but a merge through `git/merge`.'),
  })
  .meta({
    description: 'What is refused on the refs that a pattern matches.',
    examples: [{ force: { except: ['admin'] }, delete: { except: ['admin'] } }],
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
    .input(z.strictObject({ name: RepoName, pattern: RefPattern, refuse: RefRefusals }))
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
