import { connect, type Socket } from 'node:net'

export interface Load {
  port: number
  connections: number
  seconds: number
  /** The bytes of the next request. */
  next(): string
}

/**
 * Sends requests over kept-alive connections, each as soon as the last is answered, and counts the answers. Plain
 * sockets, so that the client costs a small part of what the server does.
 */
export async function load({ port, connections, seconds, next }: Load): Promise<number> {
  const until = performance.now() + seconds * 1000
  const started = performance.now()
  const counts = await Promise.all(Array.from({ length: connections }, () => drive(port, until, next)))
  const answered = counts.reduce((sum, count) => sum + count, 0)
  return answered / ((performance.now() - started) / 1000)
}

export function post(path: string, body: unknown, headers: Record<string, string> = {}): string {
  const text = JSON.stringify(body)
  const lines = Object.entries({
    host: 'localhost',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

function drive(port: number, until: number, next: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0
    let pending: Buffer = Buffer.alloc(0)
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(next()))
    socket.setNoDelay(true)
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      const end = answerEnd(pending)
      if (end === undefined || pending.length < end) return
      if (!pending.subarray(9, 12).equals(OK)) {
        socket.destroy()
        return reject(new Error(`the server answered ${pending.toString().slice(0, 400)}`))
      }
      pending = pending.subarray(end)
      answered++
      if (performance.now() < until) socket.write(next())
      else socket.end(() => resolve(answered))
    })
  })
}

const OK = Buffer.from('200')

function answerEnd(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, headEnd))
  if (!length) throw new Error('an answer without content-length')
  return headEnd + 4 + Number(length[1])
}
