import { Worker } from 'node:worker_threads'

/** Beyond this, reading takes so long that others would notice. */
export const LARGE_JSON_BYTES = 256 * 1024

/** What a thread may use. A body that needs more is refused, and the next has a new thread. */
const MEMORY_MB = 1024

interface Answer {
  id: number
  value?: unknown
  problem?: string
}

type Waiting = Map<number, PromiseWithResolvers<Answer>>

let thread: { worker: Worker; waiting: Waiting } | undefined
let asked = 0

/** Reads JSON in another thread, one body after the other. Gives the value, or what is wrong with it. */
export async function parseLargeJson(bytes: Buffer): Promise<Omit<Answer, 'id'>> {
  thread ??= startThread()
  const id = ++asked
  const answer = Promise.withResolvers<Answer>()
  thread.waiting.set(id, answer)
  thread.worker.ref()
  // Handed over, not copied. What shares its memory with others is.
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : Buffer.from(new Uint8Array(bytes).buffer)
  thread.worker.postMessage({ id, bytes: own }, [own.buffer as ArrayBuffer])
  return answer.promise
}

/** Started when the first large body comes. Without one it keeps nothing alive. */
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
    for (const [id, { resolve }] of started.waiting)
      resolve({ id, problem: 'The body takes too much memory' })
    started.waiting.clear()
  }
  worker.on('error', end).on('exit', end)
  return started
}
