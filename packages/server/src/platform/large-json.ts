import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type JsonBounds, shapeOf } from './json-shape.ts'
import { createSpaced } from './spaced.ts'

/** Beyond this, reading takes so long that others would notice. */
export const LARGE_JSON_BYTES = 256 * 1024

/**
 * How many values large JSON may have. What makes it large is what is in its strings; the same bytes spent on brackets
 * take a minute to read, and gigabytes to hold.
 */
const MAX_VALUES = 300_000

/** What a thread may use. A body that needs more is refused, and the next has a new thread. */
const MEMORY_MB = 1024

/** The value, or what is wrong, in words that follow those for what was read. */
interface Read {
  value?: unknown
  problem?: string
}

interface Answer extends Read {
  id: number
  /** What is better read here. It has been looked at. */
  unread?: Uint8Array
}

type Waiting = Map<number, PromiseWithResolvers<Answer>>

let thread: { worker: Worker; waiting: Waiting } | undefined
let asked = 0

/** Reads JSON that somebody may have made to take long, and which is not large. */
export function parseBoundedJson(text: string, bounds: JsonBounds): Read {
  const { problem } = shapeOf(text, bounds)
  return problem === undefined ? parse(text) : { problem: `has ${problem}` }
}

function parse(text: string): Read {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: `is not valid JSON: ${error instanceof Error ? error.message : error}` }
  }
}

const utf8 = new TextDecoder()

/** Of what is read here, where all wait for it: two thirds of the time are theirs. */
const spaced = createSpaced(2)

const nextTurn = (): Promise<void> => setImmediate()

/** When the last that was asked for has been read, and others have had their turn. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Looks at JSON in another thread, one after the other, and reads it there if that is what takes long. To take over what
 * was read may be long, too: the next is not read before others have had their turn.
 */
export function parseLargeJson(
  bytes: Buffer,
  { values = MAX_VALUES, levels }: Pick<JsonBounds, 'levels'> & Partial<JsonBounds>,
): Promise<Read> {
  const read = last.then(() => readInThread(bytes, { values, levels }))
  // Whatever came of it.
  last = read.then(nextTurn, nextTurn)
  return read
}

async function readInThread(bytes: Buffer, { values, levels }: JsonBounds): Promise<Read> {
  thread ??= startThread()
  const id = ++asked
  // Handed over, not copied. What shares its memory with others is.
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : Buffer.from(new Uint8Array(bytes).buffer)
  thread.worker.postMessage({ id, bytes: own, bounds: { values, levels } }, [own.buffer as ArrayBuffer])
  const answer = Promise.withResolvers<Answer>()
  thread.waiting.set(id, answer)
  thread.worker.ref()
  const { unread, ...read } = await answer.promise
  return unread ? spaced(async () => parse(utf8.decode(unread))) : read
}

/** Started when it is needed first. While it has nothing to do it keeps nothing alive. */
function startThread() {
  const worker = new Worker(new URL('./json-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  const started = { worker, waiting: new Map() as Waiting }
  worker.on('message', (answer: Answer) => {
    started.waiting.get(answer.id)?.resolve(answer)
    started.waiting.delete(answer.id)
    if (started.waiting.size === 0) worker.unref()
  })
  const end = () => {
    if (thread === started) thread = undefined
    for (const [id, { resolve }] of started.waiting) resolve({ id, problem: 'takes too much memory' })
    started.waiting.clear()
  }
  worker.on('error', end).on('exit', end)
  return started
}
