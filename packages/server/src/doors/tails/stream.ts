import type { ServerResponse } from 'node:http'
import type { NumberedEvent } from '@trellis/contract'
import type { Listener } from '../../events/tailing.ts'
import { drained } from '../git/patience.ts'

/** How the events of a log are shown. */
export interface Shown {
  /** With their numbers, as `events/list` shows them, or as `runs/logs` does. */
  isNumbered: boolean
  isLast(event: NumberedEvent): boolean
}

/** After how long a browser that lost the connection comes again. */
const RETRY_MS = 2_000

/** Many may listen to the same log: what they are told is written out once. */
const frames = new WeakMap<NumberedEvent, string>()

function frameOf(event: NumberedEvent, { isNumbered }: Shown): string {
  const known = frames.get(event)
  if (known !== undefined) return known
  const { seq, credentialId: _, ...plain } = event
  const frame = `id: ${seq}\ndata: ${JSON.stringify(isNumbered ? event : plain)}\n\n`
  frames.set(event, frame)
  return frame
}

/** The answer to one who follows a log. */
export function createStream(response: ServerResponse, shown: Shown) {
  const closed = Promise.withResolvers<void>()
  let onSent = () => {}
  // It may have been gone before anybody had an answer.
  if (response.closed || response.destroyed) closed.resolve()
  else response.once('close', () => closed.resolve())

  function write(text: string): boolean {
    if (response.destroyed || response.writableEnded) return false
    onSent()
    return response.write(text)
  }

  function end(): void {
    if (!response.writableEnded) response.end()
    closed.resolve()
  }

  const listener: Listener = {
    take(event) {
      const hasRoom = write(frameOf(event, shown))
      if (!shown.isLast(event)) return hasRoom
      end()
      return false
    },
    ready: async () => {
      if (response.writableNeedDrain) await drained(response)
    },
    end,
  }

  return {
    listener,
    closed: closed.promise,
    end,
    begin: () => void write(`retry: ${RETRY_MS}\n\n`),
    /** One that has not even taken what it was sent before is hung up on: it can come again, and say where it was. */
    beat(): void {
      if (response.writableNeedDrain) response.destroy()
      else write(':\n\n')
    },
    onSent(hear: () => void): void {
      onSent = hear
    },
  }
}
