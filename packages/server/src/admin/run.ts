import { parseArgs } from 'node:util'
import { parseConfig } from '../platform/config.ts'
import { StartError } from '../platform/start-error.ts'
import { VERSION } from '../platform/version.ts'
import { backup } from './backup.ts'
import { type Circumstances, type Command, Unfit } from './command.ts'
import { orgCommands } from './orgs.ts'
import { ownerCommands } from './owner.ts'
import { restore } from './restore.ts'
import { userCommands } from './users.ts'
import { verify } from './verify.ts'

const commands: readonly Command[] = [
  backup,
  restore,
  verify,
  ...ownerCommands,
  ...userCommands,
  ...orgCommands,
]

const listed = (some: readonly Command[]) =>
  some.map(({ name, usage, about }) => `  ${`${name} ${usage}`.trimEnd()}\n      ${about}`).join('\n')

const overview = `What operators do beside the server, which may be running or not. The settings are those of the server, from the
environment, and the user that runs it is the server's.

${listed(commands)}

npm run admin -- <command> --help says more. Exit codes are 0 when it is done and 2 when it is not; what else there is, the
help of a command says.`

const helpOf = ({ name, usage, help }: Command) =>
  `npm run admin -- ${`${name} ${usage}`.trimEnd()}\n\n${help}`

interface Surroundings extends Pick<Circumstances, 'print' | 'tell' | 'ask'> {
  env: Record<string, string | undefined>
}

/** Runs the command that the arguments name, and gives the exit code: 2 when it could not be done. */
export async function runAdmin(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await dispatch(args, surroundings)
  } catch (error) {
    surroundings.tell(wordsOf(error))
    return 2
  }
}

async function dispatch(args: readonly string[], { env, ...surroundings }: Surroundings): Promise<number> {
  const [name = '--help', second = '--help'] = args
  const { print } = surroundings
  if (['--help', '-h', 'help'].includes(name)) {
    print(overview)
    return 0
  }
  if (['--version', '-v'].includes(name)) {
    print(VERSION)
    return 0
  }
  const command = commands.find((candidate) => [name, `${name} ${second}`].includes(candidate.name))
  if (!command) {
    const family = commands.filter((candidate) => candidate.name.startsWith(`${name} `))
    if (family.length === 0) throw new Unfit(`There is no command ${name}\n\n${overview}`)
    if (!['--help', '-h'].includes(second))
      throw new Unfit(`There is no command ${name} ${second}\n\n${listed(family)}`)
    print(listed(family))
    return 0
  }
  const { values, positionals } = parse(command, args.slice(command.name.split(' ').length))
  if (values.help) {
    print(helpOf(command))
    return 0
  }
  if (positionals.length !== command.positionals) throw new Unfit(helpOf(command))
  return command.run({ ...surroundings, config: parseConfig(env), values, positionals })
}

function parse(command: Command, args: string[]) {
  try {
    const options = { ...command.options, help: { type: 'boolean', short: 'h' } } as const
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new Unfit(`${(error as Error).message}\n\n${helpOf(command)}`)
  }
}

/** What a person can mend is told in words; the rest with its stack. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join('\n')
  if (!(error instanceof Error)) return String(error)
  const isReadable = error instanceof Unfit || error instanceof StartError || 'code' in error
  return isReadable ? error.message : (error.stack ?? error.message)
}
