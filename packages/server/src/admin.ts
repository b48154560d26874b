import { parseArgs } from 'node:util'
import { backup } from './admin/backup.ts'
import { type Command, Unfit } from './admin/command.ts'
import { restore } from './admin/restore.ts'
import { verify } from './admin/verify.ts'
import { SchemaTooNew, SchemaTooOld } from './db/migrate.ts'
import { GitUnusable } from './git/process/version.ts'
import { ConfigError, parseConfig } from './platform/config.ts'

const commands: readonly Command[] = [backup, restore, verify]

const overview = `What operators do beside the server. The settings are those of the server, from the environment.

${commands.map(({ name, usage, about }) => `  ${name} ${usage}\n      ${about}`).join('\n')}

npm run admin -- <command> --help says more.
`

const helpOf = ({ name, usage, help }: Command) => `npm run admin -- ${name} ${usage}\n\n${help}\n`

/** Gives the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const [name = '--help', ...rest] = args
  if (name === '--help' || name === 'help') {
    process.stdout.write(overview)
    return 0
  }
  const command = commands.find((candidate) => candidate.name === name)
  if (!command) throw new Unfit(`There is no command ${name}\n\n${overview}`)
  const { values, positionals } = parse(command, rest)
  if (values.help) {
    process.stdout.write(helpOf(command))
    return 0
  }
  if (positionals.length !== command.positionals) throw new Unfit(helpOf(command))
  return command.run({
    config: parseConfig(process.env),
    values,
    positionals,
    print: (line) => process.stdout.write(`${line}\n`),
    tell: (line) => process.stderr.write(`${line}\n`),
  })
}

function parse(command: Command, args: string[]) {
  try {
    const options = { ...command.options, help: { type: 'boolean' } } as const
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new Unfit(`${(error as Error).message}\n\n${helpOf(command)}`)
  }
}

/** What a person can mend is told in words; the rest with its stack. */
function wordsOf(error: unknown): string {
  const isReadable =
    error instanceof Unfit ||
    error instanceof ConfigError ||
    error instanceof SchemaTooNew ||
    error instanceof SchemaTooOld ||
    error instanceof GitUnusable ||
    (error instanceof Error && 'code' in error && error.message)
  return isReadable
    ? (error as Error).message
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error)
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`${wordsOf(error)}\n`)
    process.exitCode = 2
  },
)
