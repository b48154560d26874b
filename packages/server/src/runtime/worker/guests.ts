// The run that is in a process: what it says on its stdout, and what it asks of the server.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { parseBoundedJson } from '../../platform/large-json.ts'
import { answerCall, isLarge, readLargeMessage, readMessage, unreadable } from '../calls.ts'
import type { CallAnswer } from '../ctx/errors.ts'
import type { Job, LogLine } from '../runtime.ts'

/** Of what is said that belongs to no run. A process that says more is not itself any more. */
const STRAY_CHARACTERS = 4 * 2 ** 20
/** The wrapper cuts what is said, and what data is said with it, long before. */
const LINE_CHARACTERS = 256 * 1024
const LINE_SHAPE = { values: 20_000, levels: 10_000 }

export interface Guest {
  token: string
  /** The isolate it runs in. */
  key: string
  job: Job
  call(method: string, args: readonly unknown[]): Promise<unknown>
  log(line: LogLine): void
  /** From here on it may have done something. */
  isBegun: boolean
  /** Called when it begins. */
  onBegin(): void
  /** Called when it has not begun, and will not for a while. */
  withdraw(): void
  /** Called when its process has ended. */
  onExit(): void
  /** Resolves when everything it has said was heard. */
  heard: PromiseWithResolvers<void>
}

interface GuestsOptions {
  /** Of arguments, and of an answer. */
  callCharacters: number
  /** The process says what nobody can make sense of, and too much of it. */
  onNonsense(): void
}

export function createGuests({ callCharacters, onNonsense }: GuestsOptions) {
  let present: Guest | undefined
  let line = ''
  let strayed = 0

  /** What belongs to a run that has ended belongs to nobody. */
  const find = (token: string) => (present?.token === token ? present : undefined)

  function hearLine(text: string): void {
    const [word = '', token = ''] = text.split(' ', 2)
    const guest = find(token)
    const line = word === 'log' ? readLine(text.slice(word.length + token.length + 2)) : undefined
    if (!guest || !(line || word === 'begun' || word === 'ended')) {
      stray(text.length + 1)
      return
    }
    if (line) guest.log(line)
    else if (word === 'ended') guest.heard.resolve()
    else {
      guest.isBegun = true
      guest.onBegin()
    }
  }

  function stray(characters: number): void {
    strayed += characters
    if (strayed > STRAY_CHARACTERS) onNonsense()
  }

  async function answer(guest: Guest, asked: Buffer): Promise<CallAnswer> {
    const { value, problem } = isLarge(asked)
      ? await readLargeMessage(asked, guest.job.orgId)
      : readMessage(asked.toString())
    const [method, args] = Array.isArray(value) ? (value as unknown[]) : []
    if (typeof method !== 'string' || !Array.isArray(args)) return unreadable(problem ?? 'is no such thing')
    return answerCall(guest.job, method, () => guest.call(method, args))
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, verb, name = ''] = request.url?.split('/') ?? []
    if (verb === 'module') {
      const guest = present?.key === name ? present : undefined
      response.writeHead(guest ? 200 : 404).end(guest?.job.module.code)
      return
    }
    const asked = await readBytes(request, callCharacters)
    const guest = find(name)
    if (!guest || asked === undefined) {
      const message = guest ? `A call is of no more than ${callCharacters} characters` : 'The run has ended'
      response.end(JSON.stringify({ error: { message } } satisfies CallAnswer))
      return
    }
    const text = JSON.stringify(await answer(guest, asked))
    const error = { message: `The answer is larger than ${callCharacters} characters` }
    response.end(text.length > callCharacters ? JSON.stringify({ error } satisfies CallAnswer) : text)
  }

  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  return {
    get present() {
      return present
    },
    enter(guest: Guest): void {
      present = guest
    },
    leave(): void {
      present = undefined
    },
    hear(text: string): void {
      const lines = `${line}${text}`.split('\n')
      line = lines.pop() ?? ''
      for (const one of lines) hearLine(one)
      if (line.length <= LINE_CHARACTERS) return
      stray(line.length)
      line = ''
    },
    listen: (path: string) =>
      new Promise<void>((resolve, reject) => server.on('error', reject).listen(path, () => resolve())),
    close(): void {
      server.close()
      server.closeAllConnections()
    },
  }
}

function readLine(json: string): LogLine | undefined {
  const { value } = parseBoundedJson(json, LINE_SHAPE)
  const { level, message, data } = (value ?? {}) as Partial<LogLine>
  const isLevel = level === 'debug' || level === 'info' || level === 'warn' || level === 'error'
  return isLevel && typeof message === 'string'
    ? { level, message, ...(data !== undefined && { data }) }
    : undefined
}

/** Undefined if there is more. It is read to its end all the same, for the sake of the connection. */
async function readBytes(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes <= most) pieces.push(piece)
  }
  return bytes > most ? undefined : Buffer.concat(pieces)
}
