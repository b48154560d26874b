// What is said between the server and the process of one run, which may say anything.

import type { Readable, Writable } from 'node:stream'
import { isLarge, readLargeMessage, readMessage } from '../calls.ts'
import type { CallAnswer } from '../ctx/errors.ts'
import type { LogLine } from '../runtime.ts'
import type { Order, Told } from './inside/messages.ts'
import { readLines } from './lines.ts'

interface ConversationOptions {
  said: Readable
  told: Writable
  /** On whose behalf it runs. */
  orgId: string
  order: Order
  /** Of one message. */
  messageBytes: number
  /** Of an answer. */
  callCharacters: number
  /** Lines of the log. The wrapper sends no more, and one that says so. */
  lines: number
  answer(method: string, args: readonly unknown[]): Promise<CallAnswer>
  log(line: LogLine): void
  /** When the process is there, and is about to be told what to run. */
  onReady(): void
  /** It says what a wrapper would not. */
  onNonsense(error: string): void
}

interface Call {
  call: number
  method: string
  args: readonly unknown[]
}

/** Calls that are answered at once. What is said after them waits. */
const MOST_CALLS = 32

export type Conversation = ReturnType<typeof converse>

export function converse(options: ConversationOptions) {
  const { said, told, orgId, order, messageBytes, callCharacters, lines, answer, log, onReady, onNonsense } =
    options
  let isReady = false
  /** Those that wait, all of one piece that was read. */
  const calls: Call[] = []
  let answering = 0
  let logged = 0
  let done: unknown
  /** The last of those that could not be read at once. */
  let behind: Promise<void> | undefined

  /** Resolves when it is on its way. */
  const send = (text: string): Promise<void> =>
    new Promise((resolve) => told.write(`${text}\n`, () => resolve()))
  const tell = (message: Told): Promise<void> => send(JSON.stringify(message))

  /** A module that does not take its answers gets no more. */
  async function answerAll(): Promise<void> {
    if (answering >= MOST_CALLS) {
      said.pause()
      return
    }
    answering++
    // Nobody is there any more when it is not writable.
    for (let next = calls.shift(); next && told.writable; next = calls.shift()) {
      const { call, method, args } = next
      const text = JSON.stringify({ call, ...(await answer(method, args)) } satisfies Told)
      const error = { message: `The answer is larger than ${callCharacters} characters` }
      await (text.length > callCharacters ? tell({ call, error }) : send(text))
    }
    answering--
    said.resume()
  }

  function hear(message: unknown): boolean {
    if (typeof message !== 'object' || message === null) return false
    if ('ready' in message && !isReady) {
      isReady = true
      onReady()
      void tell({ order })
      return true
    }
    if (!isReady) return false
    if ('log' in message && isLine(message.log)) {
      log(message.log)
      return ++logged <= lines + 1
    }
    if ('done' in message) {
      const isFirst = done === undefined
      done ??= message.done
      return isFirst
    }
    const { call, method, args } = message as Record<string, unknown>
    if (typeof call !== 'number' || typeof method !== 'string' || !Array.isArray(args)) return false
    calls.push({ call, method, args })
    void answerAll()
    return true
  }

  const take = ({ value, problem }: { value?: unknown; problem?: string }): void => {
    if (problem?.startsWith('has ')) onNonsense(`It sent what ${problem}`)
    else if (!hear(value)) onNonsense('The module has replaced what reports for it')
  }

  /** What comes after something large waits until that is read. */
  async function takeLater(text: string, before = behind): Promise<void> {
    said.pause()
    await before
    take(isLarge(text) ? await readLargeMessage(Buffer.from(text), orgId) : readMessage(text))
  }

  told.on('error', () => {})
  const ended = readLines(said, {
    maxBytes: messageBytes,
    onLine(text, cut) {
      if (cut > 0) onNonsense(`It sent more than ${messageBytes} bytes at once`)
      else if (behind === undefined && !isLarge(text)) take(readMessage(text))
      else {
        const taken = takeLater(text).finally(() => {
          if (behind !== taken) return
          behind = undefined
          said.resume()
        })
        behind = taken
      }
    },
  }).then(() => behind)
  return {
    tell,
    /** When the process has ended. */
    close(): void {
      calls.length = 0
      said.resume()
    },
    /** When everything it has said was heard. */
    ended,
    /** What it says of its end. */
    get done() {
      return done
    },
  }
}

function isLine(line: unknown): line is LogLine {
  if (typeof line !== 'object' || line === null) return false
  const { level, message } = line as Partial<LogLine>
  return (
    typeof message === 'string' &&
    (level === 'debug' || level === 'info' || level === 'warn' || level === 'error')
  )
}
