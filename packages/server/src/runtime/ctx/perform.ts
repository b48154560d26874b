import { type ContextParts, makeContext } from './context.ts'
import { describeThrown } from './errors.ts'
import { asRepeated } from './repeatable.ts'
import { createSteps } from './steps.ts'

/** How it went, as far as can be told from inside. `output` is JSON, as text. */
export type Performance =
  | { kind: 'returned'; output?: string }
  | { kind: 'threw'; error: string; stack?: string }
  | { kind: 'ended'; error: string }
  | { kind: 'suspended' }

export interface Part extends ContextParts {
  input: unknown
  runId: string
  /** Of a workflow: when it began, as `Date.now()` gives it before the first step. */
  startedAt?: number
  outputCharacters: number
  /** Gives the module. What it throws while it is loaded is thrown here. */
  load(): Promise<{ default?: unknown }>
  /** Rejects with a rejection that nobody handled. */
  unhandled: Promise<never>
  /** After which a rejection that nobody handles is known. */
  settled(): Promise<void>
}

/** Runs a module once. Never throws. */
export async function perform(part: Part): Promise<Performance> {
  const { runId, startedAt } = part
  part.unhandled.catch(() => {})
  try {
    if (startedAt === undefined) return await toItsEnd(part, makeContext(part))
    const steps = createSteps({ call: part.call, runId, startedAt })
    const ctx = makeContext(part, steps)
    return await asRepeated(steps.world, () =>
      Promise.race([
        toItsEnd(part, ctx),
        steps.stopped.then((stopped): Performance => {
          if (stopped.is === 'suspended') return { kind: 'suspended' }
          return { kind: 'threw', error: describeThrown(stopped.error).error }
        }),
      ]),
    )
  } catch (error) {
    return { kind: 'threw', ...describeThrown(error) }
  }
}

async function toItsEnd(part: Part, ctx: unknown): Promise<Performance> {
  const { input, unhandled, settled, outputCharacters } = part
  const { default: main } = await part.load()
  if (typeof main !== 'function') throw new TypeError('The default export of the module is not a function')
  const output = await Promise.race([(async () => main(input, ctx))(), unhandled])
  // To write down a long text once more may take more memory than there is.
  const isTooLong = typeof output === 'string' && output.length > outputCharacters
  const json: string | undefined = isTooLong ? output : JSON.stringify(output)
  await Promise.race([settled(), unhandled])
  if (json === undefined) return { kind: 'returned' }
  if (json.length > outputCharacters)
    return { kind: 'ended', error: `The output is larger than ${outputCharacters} characters of JSON` }
  return { kind: 'returned', output: json }
}
