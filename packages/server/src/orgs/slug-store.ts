import type { Db, Tx } from '../schema.ts'

interface FormerOrgSlugsTable {
  slug: string
  org_id: string
  left_at: number
}

export interface OrgSlugTables {
  former_org_slugs: FormerOrgSlugsTable
}

/** An organization is found by so many of the slugs it had, the last ones. */
const KEPT = 50

/** What an organization is called now that had this slug, unless somebody else has it since. */
export async function findCurrentSlug(q: Db, slug: string): Promise<string | undefined> {
  const found = await q
    .selectFrom('former_org_slugs')
    .innerJoin('orgs', 'orgs.id', 'former_org_slugs.org_id')
    .select('orgs.slug')
    .where('former_org_slugs.slug', '=', slug)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('orgs as taken').select('taken.id').where('taken.slug', '=', slug))),
    )
    .executeTakeFirst()
  return found?.slug
}

/** Finds something by the slug of an organization: the one it has, or one it had before and nobody has now. */
export async function byAnySlug<T>(
  q: Db,
  slug: string,
  find: (slug: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  const found = await find(slug)
  if (found) return found
  const current = await findCurrentSlug(q, slug)
  return current === undefined ? undefined : find(current)
}

/** Whoever had left the slug before is not found by it any more. */
export async function leaveSlug(
  tx: Tx,
  { id, slug }: { id: string; slug: string },
  now: number,
): Promise<void> {
  const left = { slug, org_id: id, left_at: now }
  await tx
    .insertInto('former_org_slugs')
    .values(left)
    .onConflict((conflict) => conflict.column('slug').doUpdateSet(left))
    .execute()
  await tx
    .deleteFrom('former_org_slugs')
    .where('org_id', '=', id)
    .where('slug', 'not in', (eb) =>
      eb
        .selectFrom('former_org_slugs')
        .select('slug')
        .where('org_id', '=', id)
        .orderBy('left_at', 'desc')
        .orderBy('slug')
        .limit(KEPT),
    )
    .execute()
}

/** An organization has this slug now, or has had it to the end, so that nobody is found by it who had it before. */
export async function takeSlug(tx: Tx, slug: string): Promise<void> {
  await tx.deleteFrom('former_org_slugs').where('slug', '=', slug).execute()
}
