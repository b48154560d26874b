import type { ListedOrg } from '../orgs/administration.ts'
import type { Config } from '../platform/config.ts'
import { type Command, Unfit } from './command.ts'
import { printAll } from './listing.ts'
import { openServices } from './services.ts'

const list: Command = {
  name: 'orgs list',
  usage: '[--json]',
  about: 'All organizations, with what they hold',
  help: `Lists slugs, members, repositories, bytes, and which are frozen, in the order of their slugs. Those of agents and
anonymous callers that nobody has taken over are among them.

  --json   a JSON object a line, with the limits in force`,
  options: { json: { type: 'boolean' } },
  positionals: 0,
  async run(circumstances) {
    await using services = await openServices(circumstances)
    const json = (org: ListedOrg) => present(org, circumstances.config)
    const keyOf = ({ slug }: ListedOrg) => slug
    await printAll({ page: services.orgs.list, keyOf, json, columns: columnsOf }, circumstances)
    return 0
  },
}

const freezing = (name: 'freeze' | 'unfreeze', about: string, help: string): Command => ({
  name: `orgs ${name}`,
  usage: '<slug>',
  about,
  help,
  options: {},
  positionals: 1,
  async run({ positionals: [slug = ''], ...circumstances }) {
    await using services = await openServices(circumstances)
    found(await services.orgs.setFrozen(slug, name === 'freeze'), slug)
    circumstances.print(`${slug} is ${name === 'freeze' ? 'frozen' : 'not frozen any more'}.`)
    return 0
  },
})

const freeze = freezing(
  'freeze',
  'Let nothing in an organization be changed',
  `From the next request on nothing can be pushed, made or started in the organization, and its daemons sleep; it can be
read and cloned. Its owners cannot undo it.`,
)

const unfreeze = freezing(
  'unfreeze',
  'Let an organization go on',
  'Takes a freeze back, whether it was an operator or an owner who froze it.',
)

const limits: Command = {
  name: 'orgs limits',
  usage: '<slug> [--repositories <number>] [--bytes <number>] [--json]',
  about: 'Show or set what one organization may have',
  help: `Without options it shows what the organization has and may have. What is set here holds for this one in place of the
settings, for more or for less; what it has beyond a limit stays, and does not grow.

  --repositories <number>   or \`default\`, to go by TRELLIS_ORG_MAX_REPOS again
  --bytes <number>          of all its repositories together, or \`default\` (TRELLIS_ORG_MAX_BYTES)
  --json                    a JSON object`,
  options: { repositories: { type: 'string' }, bytes: { type: 'string' }, json: { type: 'boolean' } },
  positionals: 1,
  async run({ positionals: [slug = ''], values, ...circumstances }) {
    const repositories = limitIn('repositories', values.repositories)
    const bytes = limitIn('bytes', values.bytes)
    await using services = await openServices(circumstances)
    const isToChange = repositories !== undefined || bytes !== undefined
    const org = found(
      isToChange
        ? await services.orgs.setLimits(slug, {
            ...(repositories !== undefined && { repositories }),
            ...(bytes !== undefined && { bytes }),
          })
        : await services.orgs.find(slug),
      slug,
    )
    const { config, print } = circumstances
    if (values.json) print(JSON.stringify(present(org, config)))
    else for (const line of inWords(org, config)) print(line)
    return 0
  },
}

export const orgCommands: readonly Command[] = [list, freeze, unfreeze, limits]

function found(org: ListedOrg | undefined, slug: string): ListedOrg {
  if (!org) throw new Unfit(`There is no organization ${slug}. \`orgs list\` shows all of them.`)
  return org
}

/** Undefined when it was not given, null to have the default again. */
function limitIn(name: string, given: unknown): number | null | undefined {
  if (given === undefined) return undefined
  if (given === 'default') return null
  const limit = /^\d{1,15}$/.test(String(given)) ? Number(given) : Number.NaN
  if (Number.isNaN(limit)) throw new Unfit(`--${name} must be a whole number, or default.`)
  return limit
}

/** What holds for it, and by which setting if it has none of its own. */
function limitsOf({ kind, max_repos, max_bytes }: ListedOrg, { limits: usual }: Config) {
  const isTeam = kind === 'team'
  return {
    repositories: {
      limit: max_repos ?? (isTeam ? usual.reposPerOrg : usual.provisionalRepos),
      from: max_repos === null ? `TRELLIS_${isTeam ? 'ORG' : 'PROVISIONAL'}_MAX_REPOS` : undefined,
    },
    bytes: {
      limit: max_bytes ?? (isTeam ? usual.orgBytes : usual.provisionalBytes),
      from: max_bytes === null ? `TRELLIS_${isTeam ? 'ORG' : 'PROVISIONAL'}_MAX_BYTES` : undefined,
    },
  }
}

function inWords(org: ListedOrg, config: Config): string[] {
  const { repositories, bytes } = limitsOf(org, config)
  const by = (from: string | undefined) => (from ? `by ${from}` : 'set for this organization')
  return [
    `repositories: ${org.repo_count} of ${repositories.limit}, ${by(repositories.from)}`,
    `bytes: ${org.size_bytes} of ${bytes.limit}, ${by(bytes.from)}`,
  ]
}

function present(org: ListedOrg, config: Config) {
  const { repositories, bytes } = limitsOf(org, config)
  return {
    id: org.id,
    slug: org.slug,
    name: org.name,
    kind: org.kind,
    personal: org.personal_user_id !== null,
    frozen: org.frozen === 1,
    frozenByOperator: org.held === 1,
    members: Number(org.members),
    repositories: { count: org.repo_count, limit: repositories.limit, isOwn: !repositories.from },
    bytes: { count: org.size_bytes, limit: bytes.limit, isOwn: !bytes.from },
    createdAt: new Date(org.created_at).toISOString(),
  }
}

const columnsOf = (org: ListedOrg): string[] => [
  org.slug,
  org.kind === 'team' ? '' : org.kind,
  `${org.members} members`,
  `${org.repo_count} repositories`,
  `${org.size_bytes} bytes`,
  org.held === 1 ? 'frozen by the operator' : org.frozen === 1 ? 'frozen by an owner' : '',
]
