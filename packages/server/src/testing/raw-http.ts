import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Headers
  body: string
}

/** Opens a connection to a server, for requests that no client would send. */
export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url)
  return connect({ host: hostname, port: Number(port) })
}

/** Sends bytes as they are and reads until the server closes the connection. */
export function sendRaw(url: string, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = openSocket(url)
  for (const part of parts) socket.write(part)
  return readToEnd(socket)
}

/** What was received is what counts: the server may close before everything was sent. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
}

/** Reads one answer with a body of known length; an interim answer before it is left out. */
export function parseAnswer(text: string): RawAnswer {
  const final = text.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, '')
  const split = final.indexOf('\r\n\r\n')
  const [first = '', ...lines] = final.slice(0, split).split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
  return { status: Number(first.split(' ')[1]), headers, body: final.slice(split + 4) }
}
