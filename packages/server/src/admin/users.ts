import type { ListedUser, PeopleAdministration, Removal } from '../people/administration.ts'
import { type Circumstances, type Command, requireConsent, Unfit } from './command.ts'
import { printAll } from './listing.ts'
import { linkOf, openServices } from './services.ts'

const WHO = '<who> is an address, or an id that `users list` shows.'

const list: Command = {
  name: 'users list',
  usage: '[--json]',
  about: 'Everybody who has an account',
  help: `Lists ids, addresses, names and who is disabled, in the order of their coming.

  --json   a JSON object a line`,
  options: { json: { type: 'boolean' } },
  positionals: 0,
  async run(circumstances) {
    await using services = await openServices(circumstances)
    const { list: page } = services.people
    await printAll({ page, keyOf: ({ id }) => id, json: present, columns: columnsOf }, circumstances)
    return 0
  },
}

const disable: Command = {
  name: 'users disable',
  usage: '<who> [--yes]',
  about: 'Shut somebody out at once',
  help: `Whatever the person comes in with is refused from the next request on: sessions, API keys, and the agents they have
claimed. Keys and agents work again after \`users enable\`; sessions do not. What they or these agents handed out or set
off ends for good: repository tokens, invites and clones taken from them, runs. Their memberships, repositories and
webhooks stay as they are. A live tail that is open ends within a minute.

  --yes   do not ask

${WHO}`,
  options: { yes: { type: 'boolean' } },
  positionals: 1,
  run: (circumstances) =>
    withUser(circumstances, async (user, people) => {
      if (user.disabled_at !== null) throw new Unfit(`${user.email} is disabled already.`)
      await requireConsent(circumstances, `${user.email} will be shut out, and their tokens and invites end.`)
      await people.disable(user.id)
      circumstances.print(`${user.email} is disabled.`)
    }),
}

const enable: Command = {
  name: 'users enable',
  usage: '<who>',
  about: 'Let somebody in again',
  help: `Takes \`users disable\` back: the person can sign in again, and their API keys and agents work as before.

${WHO}`,
  options: {},
  positionals: 1,
  run: (circumstances) =>
    withUser(circumstances, async (user, people) => {
      if (user.disabled_at === null) throw new Unfit(`${user.email} is not disabled.`)
      await people.enable(user.id)
      circumstances.print(`${user.email} is enabled.`)
    }),
}

const resetPassword: Command = {
  name: 'users reset-password',
  usage: '<who> [--yes] [--json]',
  about: 'Give somebody a new password, and end all else they sign in with',
  help: `Makes a password, prints it this once, and ends all sessions of the person, their passkeys and their second factor.
They had better change it after signing in. Whoever signs in through a provider alone gets a password as well. API keys
stay as they are.

  --yes    do not ask
  --json   a JSON object: id, email, password

${WHO}`,
  options: { yes: { type: 'boolean' }, json: { type: 'boolean' } },
  positionals: 1,
  run: (circumstances) =>
    withUser(circumstances, async ({ id, email, disabled_at }, people) => {
      await requireConsent(
        circumstances,
        `All sessions of ${email} end, and so do their password, passkeys and second factor.`,
      )
      const password = await people.resetPassword(id)
      const { values, print, tell } = circumstances
      if (values.json) print(JSON.stringify({ id, email, password }))
      else print(`The password of ${email} is now ${password}`)
      if (disabled_at !== null) tell(`${email} is disabled, and cannot sign in before \`users enable\`.`)
    }),
}

const link: Command = {
  name: 'users link',
  usage: '<who> [--json]',
  about: 'Print a link with which somebody sets a new password',
  help: `The link works once and for a day; a new one ends the one before. Nothing else changes until it is used: then all sessions
of the person end. For somebody whose password is known to others, \`users reset-password\` is the better way.

  --json   a JSON object: id, email, link

${WHO}`,
  options: { json: { type: 'boolean' } },
  positionals: 1,
  run: (circumstances) =>
    withUser(circumstances, async ({ id, email, disabled_at }, people) => {
      const { values, print, tell } = circumstances
      const url = linkOf(circumstances, await people.newLink(id))
      if (disabled_at !== null) tell(`${email} is disabled, and cannot sign in before \`users enable\`.`)
      print(values.json ? JSON.stringify({ id, email, link: url }) : url)
    }),
}

const remove: Command = {
  name: 'users remove',
  usage: '<who> [--heir <who>] [--yes]',
  about: 'Remove an account for good',
  help: `Removes the account with its sessions, API keys, tokens, invites and memberships, and revokes the agents that the person
has claimed. The log keeps their id. Organizations that were theirs alone are deleted where they are empty. Where there
are repositories or other members in one, it needs somebody else: make another member its owner before, or name an heir.

  --heir <who>   becomes the owner of every organization that would be nobody's
  --yes          do not ask

${WHO}`,
  options: { heir: { type: 'string' }, yes: { type: 'boolean' } },
  positionals: 1,
  run: (circumstances) =>
    withUser(circumstances, async (user, people) => {
      const heir = await findHeir(circumstances, user, people)
      const plan = await people.planRemoval(user.id)
      if (plan.isFirstOwner)
        throw new Unfit(
          `${user.email} is the owner of the first start, and stays: \`owner link\` gives the account to somebody else.`,
        )
      requireHeir(plan, { user, heir })
      for (const line of inWords(plan, heir)) circumstances.tell(line)
      await requireConsent(circumstances, `${user.email} will be removed for good.`)
      const removal = await people.remove(user.id, heir?.id)
      // Something was pushed, or somebody left, since it was looked at.
      requireHeir(removal ?? (await people.planRemoval(user.id)), { user, heir })
      circumstances.print(`${user.email} is removed.`)
    }),
}

export const userCommands: readonly Command[] = [list, disable, enable, link, resetPassword, remove]

async function withUser(
  circumstances: Circumstances,
  work: (user: ListedUser, people: PeopleAdministration) => Promise<void>,
): Promise<number> {
  await using services = await openServices(circumstances)
  const { people } = services
  await work(await findUser(people, circumstances.positionals[0] ?? ''), people)
  return 0
}

async function findUser(people: PeopleAdministration, who: string): Promise<ListedUser> {
  const user = await people.find(who)
  if (!user) throw new Unfit(`Nobody has the address or id ${who}. \`users list\` shows who there is.`)
  return user
}

async function findHeir(
  { values }: Circumstances,
  user: ListedUser,
  people: PeopleAdministration,
): Promise<ListedUser | undefined> {
  if (typeof values.heir !== 'string') return undefined
  const heir = await findUser(people, values.heir)
  if (heir.id === user.id) throw new Unfit(`${user.email} cannot be their own heir.`)
  if (heir.disabled_at !== null) throw new Unfit(`${heir.email} is disabled, and cannot be an heir.`)
  return heir
}

function requireHeir(
  { orphaned }: Removal,
  { user, heir }: { user: ListedUser; heir: ListedUser | undefined },
): void {
  if (orphaned.length === 0 || heir) return
  const slugs = orphaned.map(({ slug }) => slug).join(', ')
  throw new Unfit(
    `${user.email} is the last owner of ${slugs}: make somebody else an owner there, or name one with --heir.`,
  )
}

function inWords({ left, deleted, orphaned, agents }: Removal, heir: ListedUser | undefined): string[] {
  const slugs = (standings: Removal['left']) => standings.map(({ slug }) => slug).join(', ')
  return [
    ...(left.length > 0 ? [`They leave ${slugs(left)}.`] : []),
    ...(deleted.length > 0 ? [`Nothing is in ${slugs(deleted)}, which goes with them.`] : []),
    ...(orphaned.length > 0 && heir ? [`${heir.email} becomes the owner of ${slugs(orphaned)}.`] : []),
    ...(agents > 0 ? [`Agents of theirs that are revoked: ${agents}.`] : []),
  ]
}

const present = ({ id, email, name, email_verified, disabled_at, created_at }: ListedUser) => ({
  id,
  email,
  name,
  emailVerified: Boolean(email_verified),
  disabledAt: disabled_at === null ? null : new Date(disabled_at).toISOString(),
  createdAt: new Date(created_at).toISOString(),
})

function columnsOf({ id, email, name, disabled_at, created_at }: ListedUser): string[] {
  const day = (time: Date | string | number) => new Date(time).toISOString().slice(0, 10)
  return [
    id,
    email,
    name,
    `since ${day(created_at)}`,
    disabled_at === null ? '' : `disabled ${day(disabled_at)}`,
  ]
}
