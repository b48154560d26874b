import { MAX_DEPTH } from './causes.ts'
import { FETCH_TIMEOUT_MS, MAX_FETCHES, MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES } from './ctx/fetching.ts'
import { MAX_CALLS } from './ctx/host.ts'
import { MAX_RESULT_BYTES, MAX_STEPS, MAX_TOTAL_BYTES, MAX_WAITS } from './journal.ts'
import { MAX_OUTPUT_BYTES } from './outcomes.ts'
import { MAX_INPUT_BYTES } from './queue-room.ts'

/** What is no setting and yet for authors to know. */
export const runBounds = {
  run: {
    inputBytes: MAX_INPUT_BYTES,
    outputBytes: MAX_OUTPUT_BYTES,
    calls: MAX_CALLS,
    causationDepth: MAX_DEPTH,
  },
  fetch: {
    perRun: MAX_FETCHES,
    seconds: FETCH_TIMEOUT_MS / 1000,
    requestBytes: MAX_REQUEST_BYTES,
    responseBytes: MAX_RESPONSE_BYTES,
  },
  workflow: {
    steps: MAX_STEPS,
    stepBytes: MAX_RESULT_BYTES,
    stepsBytes: MAX_TOTAL_BYTES,
    waitsPerRepository: MAX_WAITS,
  },
}
