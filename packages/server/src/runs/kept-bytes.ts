import type { StepRow } from './step-store.ts'

/** What every run takes beside what it was given and what it gave. */
export const ROW_BYTES = 2_000
/** The same of a step. */
const STEP_BYTES = 300

const bytesIn = (text: string | null | undefined): number => (text ? Buffer.byteLength(text) : 0)

/** What is kept of a run as soon as there is one. */
export const bytesOfNew = (run: {
  input: string
  target: { inputSchema?: string | undefined; outputSchema?: string | undefined }
}): number =>
  ROW_BYTES + bytesIn(run.input) + bytesIn(run.target.inputSchema) + bytesIn(run.target.outputSchema)

/** What is kept of a step. An event that has arrived counts when the step has taken it. */
export const bytesOfStep = ({ name, state, asked, arrived, result, error }: StepRow): number =>
  STEP_BYTES +
  [name, asked, state === 'waiting' ? null : arrived, result, error].reduce(
    (sum, text) => sum + bytesIn(text),
    0,
  )
