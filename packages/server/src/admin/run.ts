import { parseArgs } from 'node:util'
import { parseConfig } from '../platform/config.ts'
import { StartError } from '../platform/start-error.ts'
import { VERSION } from '../platform/version.ts'
import { backup } from './backup.ts'
import { type Circumstances, type Command, Unfit } from './command.ts'
import { restore } from './restore.ts'
import { verify } from './verify.ts'

const commands: readonly Command[] = [backup, restore, verify]

const overview = `What operators do beside the server. The settings are those of the server, from the environment.

${commands.map(({ name, usage, about }) => `  ${name} ${usage}\n      ${about}`).join('\n')}

npm run admin -- <command> --help says more.`

const helpOf = ({ name, usage, help }: Command) => `npm run admin -- ${name} ${usage}\n\n${help}`

interface Surroundings extends Pick<Circumstances, 'print' | 'tell'> {
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

async function dispatch([name = '--help', ...rest]: readonly string[], { env, print, tell }: Surroundings) {
  if (['--help', '-h', 'help'].includes(name)) {
    print(overview)
    return 0
  }
  if (['--version', '-v'].includes(name)) {
    print(VERSION)
    return 0
  }
  const command = commands.find((candidate) => candidate.name === name)
  if (!command) throw new Unfit(`There is no command ${name}\n\n${overview}`)
  const { values, positionals } = parse(command, rest)
  if (values.help) {
    print(helpOf(command))
    return 0
  }
  if (positionals.length !== command.positionals) throw new Unfit(helpOf(command))
  return command.run({ config: parseConfig(env), values, positionals, print, tell })
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
