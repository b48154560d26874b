import type { ParseArgsOptionsConfig } from 'node:util'
import type { Config } from '../platform/config.ts'

/** What a command has to work with. */
export interface Circumstances {
  config: Config
  /** What was given after the name of the command. */
  values: Readonly<Record<string, unknown>>
  positionals: readonly string[]
  /** The outcome, for whoever asked. */
  print(line: string): void
  /** How it is going, for a person who waits. */
  tell(line: string): void
  /** Gives what a person answered; undefined where there is none to ask. */
  ask(question: string): Promise<string | undefined>
}

export interface Command {
  /** One word or two. */
  name: string
  /** What follows its name. */
  usage: string
  /** In a line. */
  about: string
  /** All of it. */
  help: string
  options: ParseArgsOptionsConfig
  /** How many arguments it takes. */
  positionals: number
  /** Gives the exit code. Throws `Unfit` where nothing can be done. */
  run(circumstances: Circumstances): Promise<number>
}

/** Something that a person can mend, in words. */
export class Unfit extends Error {}

/** Goes on when a person says so, or has said so before. */
export async function requireConsent(
  { values, ask }: Pick<Circumstances, 'values' | 'ask'>,
  question: string,
): Promise<void> {
  if (values.yes === true) return
  const answer = await ask(`${question} Type yes to go on: `)
  if (answer === undefined) throw new Unfit(`${question} Nobody can be asked here: say so with --yes.`)
  if (answer.trim().toLowerCase() !== 'yes') throw new Unfit('Nothing was changed.')
}

const TELL_EVERY_MS = 2_000

/** Says how far something is, now and then. */
export function createProgress(tell: (line: string) => void, unit: string) {
  let count = 0
  let told = performance.now()
  return {
    step: () => {
      count++
      if (performance.now() - told < TELL_EVERY_MS) return
      told = performance.now()
      tell(`  ${count} ${unit}`)
    },
    get count() {
      return count
    },
  }
}
