import type { Role } from '@trellis/contract'
import type { CallOptions, TestApp } from './test-app.ts'

export interface Person {
  token: string
  userId: string
  email: string
  slug: string
}

/** An organization with a person of each role. */
export interface TestOrg {
  slug: string
  owner: Person
  admin: Person
  member: Person
  /** Options of a call in which a person acts in the organization. */
  as(person: Person): CallOptions
}

export async function foundOrg(app: TestApp, slug: string): Promise<TestOrg> {
  const [owner, admin, member] = await Promise.all([
    app.signUp(`${slug}-owner`),
    app.signUp(`${slug}-admin`),
    app.signUp(`${slug}-member`),
  ])
  await app.client(owner.token).orgs.create({ slug })
  await join(app, { slug, owner }, admin, 'admin')
  await join(app, { slug, owner }, member, 'member')
  return { slug, owner, admin, member, as: ({ token }) => ({ token, org: slug }) }
}

/** Makes somebody a member, the way it is done: one invites, the other accepts. */
export async function join(
  app: TestApp,
  { slug, owner }: { slug: string; owner: Person },
  person: Person,
  role: Role,
): Promise<void> {
  const { id } = await app.client(owner.token).members.invite({ orgSlug: slug, email: person.email, role })
  await app.client(person.token).invitations.accept({ invitationId: id })
}
