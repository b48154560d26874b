import type { Blank } from '../runtime/ctx/blanking.ts'
import type { Outcome } from '../runtime/runtime.ts'
import type { SchemaChecks } from './schema-checks.ts'
import type { Ending, RunRow } from './store.ts'

/** How a run has ended, as it is written down. */
export type Verdict = Pick<Ending, 'status' | 'error' | 'exitCode' | 'output'>

export const MAX_OUTPUT_BYTES = 1024 * 1024
const MAX_ERROR_CHARACTERS = 4_000

interface Judging {
  blank: Blank
  checks: SchemaChecks
}

/** What came out, held against what the extension promises. */
export async function judge(run: RunRow, outcome: Outcome, { blank, checks }: Judging): Promise<Verdict> {
  const exitCode = 'exitCode' in outcome ? (outcome.exitCode ?? null) : null
  const fail = (error: string): Verdict => ({
    status: 'failed',
    error: readable(blank(blank.cut(error, MAX_ERROR_CHARACTERS))),
    exitCode,
    output: null,
  })
  switch (outcome.kind) {
    case 'threw':
    case 'ended':
      return fail(outcome.error)
    case 'not begun':
      return fail(`It could not be begun: ${outcome.reason}`)
    case 'suspended':
      return fail('It stopped without an end')
    case 'returned': {
      const output = jsonOf(outcome.output)
      if (output === undefined) return fail('What it returned is no JSON')
      if (output !== null && Buffer.byteLength(output) > MAX_OUTPUT_BYTES)
        return fail(`What it returned has more than ${MAX_OUTPUT_BYTES} bytes`)
      // What the module gave, not what is shown of it.
      if (run.output_schema !== null) {
        const question = { schema: run.output_schema, value: output ?? 'null' }
        const problem = await checks.check({ id: run.org_id }, question)
        if (problem) return fail(`output_invalid: ${problem}`)
      }
      return {
        status: 'succeeded',
        error: null,
        exitCode,
        output: output && JSON.stringify(blank(outcome.output)),
      }
    }
  }
}

/** Null for nothing; undefined for what no JSON can hold. */
function jsonOf(output: unknown): string | null | undefined {
  if (output === undefined) return null
  try {
    return JSON.stringify(output) as string | undefined
  } catch {
    return undefined
  }
}

/** PostgreSQL stores no NUL. */
const readable = (error: string): string => error.replaceAll('\0', '\uFFFD')
