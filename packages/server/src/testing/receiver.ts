import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useInSuite } from './in-suite.ts'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
  at: number
}

type Answer = (response: ServerResponse, received: Received, request: IncomingMessage) => void

/** A receiver of webhooks that keeps what it is sent and answers as it is told. */
export interface Receiver extends AsyncDisposable {
  url: string
  received: Received[]
  /** From now on; at first everything is answered with 200. */
  answer: Answer
  /** Waits until `enough` says so of what was received. */
  until(enough: (received: Received[]) => boolean): Promise<Received[]>
  close(): Promise<void>
}

export const answerWith =
  (status: number, body = '', headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end(body)

export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = []
  let waiting: (() => void)[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const one = {
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      at: Date.now(),
    }
    received.push(one)
    receiver.answer(response, one, request)
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: answerWith(200),
    async until(enough) {
      while (!enough(received)) await new Promise<void>((resolve) => waiting.push(resolve))
      return received
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return receiver
}

/** A receiver that the tests of a suite use together. */
export const useReceiver = (): Receiver => useInSuite(async (made) => made.use(await startReceiver()))
