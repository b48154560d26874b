import type { Runtime } from '@trellis/contract'
import type { Runnable } from '../extensions/runnable.ts'
import { isEndless, type Origin } from './causes.ts'
import { MAX_INPUT_BYTES } from './queue-room.ts'

/** A run that nobody asked for. */
interface Unasked {
  isFrozen: boolean
  /** How many runs may still wait. */
  room: number
  origin: Origin
  target: Runnable
  /** JSON. */
  input: string
}

/** Why something that happened cannot set off a run; undefined when it can. */
export function reasonAgainst(
  { isFrozen, room, origin, target, input }: Unasked,
  runtimes: ReadonlySet<Runtime>,
): string | undefined {
  if (isEndless(origin, target.name)) return 'depth_exceeded'
  if (isFrozen) return 'frozen'
  if (!runtimes.has(target.runtime)) return 'not_dispatchable'
  if (Buffer.byteLength(input) > MAX_INPUT_BYTES)
    return `input_invalid: it has more than ${MAX_INPUT_BYTES} bytes`
  return room < 1 ? 'queue_full' : undefined
}
