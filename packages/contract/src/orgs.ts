import * as z from 'zod'
import { DisplayName, Id, OrgSlug, Role, Timestamp } from './names.ts'
import { operation } from './operation.ts'
import { Page, pageOf } from './paging.ts'

export const Organization = z.object({
  id: Id,
  slug: OrgSlug,
  name: z.string().meta({ examples: ['Acme'] }),
  personal: z.boolean().describe('The organization made for a person at sign-up.'),
  frozen: z.boolean().describe('While frozen nothing in the organization can be written.'),
  role: Role.describe("The caller's own role in it."),
  repoCount: z.int().min(0),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Organization = z.infer<typeof Organization>

const tag = 'Organizations'
const bySlug = z.object({ orgSlug: OrgSlug })

export const orgs = {
  create: operation('/orgs/create', {
    summary: 'Create an organization owned by the caller',
    tag,
    needs: 'org:admin',
    errors: ['ORG_SLUG_TAKEN', 'QUOTA_EXCEEDED'],
  })
    .input(z.object({ slug: OrgSlug, name: DisplayName.optional().describe('The slug when left out.') }))
    .output(Organization),
  list: operation('/orgs/list', {
    summary: 'List the organizations the caller can act in',
    tag,
    needs: 'org:read',
  })
    .input(Page)
    .output(pageOf(Organization)),
  get: operation('/orgs/get', { summary: 'Read one organization', tag, needs: 'org:read' })
    .input(bySlug)
    .output(Organization),
  update: operation('/orgs/update', {
    summary: 'Rename, re-slug, freeze or unfreeze an organization',
    tag,
    needs: 'org:admin',
    errors: ['ORG_SLUG_TAKEN'],
  })
    .input(
      z
        .object({
          orgSlug: OrgSlug,
          slug: OrgSlug.optional().describe('A new slug. Every remote changes with it.'),
          name: DisplayName.optional(),
          frozen: z.boolean().optional(),
        })
        .meta({ examples: [{ orgSlug: 'acme', name: 'Acme' }] }),
    )
    .output(Organization),
  delete: operation('/orgs/delete', {
    summary: 'Delete an empty organization',
    tag,
    needs: 'org:admin',
    errors: ['ORG_LAST_OWNED', 'ORG_HAS_REPOS'],
  })
    .input(bySlug)
    .output(z.object({ deleted: z.boolean() })),
}
