import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type JsonBounds, shapeOf } from './json-shape.ts'
import { createPlaces, type PlaceOwner } from './places.ts'
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

/** On whose behalf it is read, and as long as what. */
export interface Sender {
  owner: PlaceOwner
  signal?: AbortSignal
}

interface Reading extends Partial<JsonBounds> {
  levels: number
  sender?: Sender | undefined
}

/** One of an organization at a time, so that nobody waits behind all that another has sent. */
const turns = createPlaces({
  size: 2,
  perOwner: 1,
  forProvisional: 1,
  perProvisional: 1,
  maxWaiting: Number.POSITIVE_INFINITY,
  maxWaitMs: 10 * 60_000,
})

/**
 * Looks at JSON in another thread, and reads it there if it is its strings that take long. Throws the reason of the
 * sender's signal when nobody waits for it any more.
 */
export async function parseLargeJson(
  bytes: Buffer,
  { values = MAX_VALUES, levels, sender }: Reading,
): Promise<Read> {
  using _turn = sender && (await turns.acquire(sender.owner, sender.signal))
  const { unread, ...read } = await lookInTurn(bytes, { values, levels })
  return unread ? await spaced(async () => parse(utf8.decode(unread))) : read
}

/** When the last has been looked at, and others have had their turn. */
let last: Promise<unknown> = Promise.resolve()

/** One after the other: to take over what was read may be long, too. */
function lookInTurn(bytes: Buffer, bounds: JsonBounds): Promise<Answer> {
  const looked = last.then(() => look(bytes, bounds))
  // Whatever came of it.
  last = looked.then(nextTurn, nextTurn)
  return looked
}

async function look(bytes: Buffer, bounds: JsonBounds): Promise<Answer> {
  thread ??= startThread()
  const id = ++asked
  // Handed over, not copied. What shares its memory with others is.
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : Buffer.from(new Uint8Array(bytes).buffer)
  thread.worker.postMessage({ id, bytes: own, bounds }, [own.buffer as ArrayBuffer])
  const answer = Promise.withResolvers<Answer>()
  thread.waiting.set(id, answer)
  thread.worker.ref()
  return answer.promise
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
