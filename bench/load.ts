import { connect, type OnReadOpts, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Load {
  port: number
  connections: number
  seconds: number
  /** The bytes of the next request. */
  next(): string | Buffer
}

/**
 * Sends requests over kept-alive connections, each as soon as the last is answered, and counts the answers. Plain
 * sockets, so that the client costs a small part of what the server does.
 */
export async function load({ port, connections, seconds, next }: Load): Promise<number> {
  const started = performance.now()
  const until = started + seconds * 1000
  const more = () => (performance.now() < until ? next() : undefined)
  const counts = await Promise.all(Array.from({ length: connections }, () => drive(port, more)))
  const answered = counts.reduce((sum, count) => sum + count, 0)
  return answered / ((performance.now() - started) / 1000)
}

/** Sends a request, waits a little after its answer, and so on, as long as it is wanted; gives how long each took. */
export async function visit({
  port,
  restMs,
  isWanted,
  next,
}: {
  port: number
  restMs: number
  isWanted(): boolean
  next(): string | Buffer
}): Promise<number[]> {
  const times: number[] = []
  let sent: number | undefined
  await drive(port, async () => {
    if (sent !== undefined) times.push(performance.now() - sent)
    await sleep(restMs)
    if (!isWanted()) return undefined
    sent = performance.now()
    return next()
  })
  return times
}

/** Sends these requests one after the other over one connection. */
export async function converse(port: number, requests: readonly string[]): Promise<void> {
  const left = [...requests]
  await drive(port, () => left.shift())
}

export function post(path: string, body: unknown, headers: Record<string, string> = {}): string {
  return request('POST', path, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}

export function request(method: string, path: string, headers: Record<string, string>, body = ''): string {
  const length: Record<string, string> =
    method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return `${headOf(method, path, { ...headers, ...length })}${body}`
}

export function postBytes(path: string, headers: Record<string, string>, body: Buffer): Buffer {
  const head = headOf('POST', path, { ...headers, 'content-length': String(body.length) })
  return Buffer.concat([Buffer.from(head), body])
}

function headOf(method: string, path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

const READ_BYTES = 64 * 1024

type Bytes = string | Buffer | undefined

function drive(port: number, next: () => Bytes | Promise<Bytes>): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0
    let reader = new AnswerReader()
    const send = async () => {
      const asked = next()
      const bytes = asked instanceof Promise ? await asked : asked
      if (bytes !== undefined) socket.write(bytes)
      else socket.end(() => resolve(answered))
    }
    const take = (chunk: Buffer): void => {
      try {
        if (!reader.take(chunk)) return
      } catch (error) {
        socket.destroy()
        reject(error)
        return
      }
      reader = new AnswerReader()
      answered++
      send()
    }
    // Into the same memory each time: collecting what many megabytes leave behind would be part of what is measured.
    const onread: OnReadOpts = {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback(length, memory) {
        take(Buffer.from(memory.buffer, memory.byteOffset, length))
        return true
      },
    }
    const socket: Socket = connect({ port, host: '127.0.0.1', onread }, send)
    socket.setNoDelay(true)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server hung up')))
  })
}

/** Finds the end of one answer, by its length or by its last chunk, and keeps none of its bytes: their memory is used again. */
class AnswerReader {
  #head: Buffer | undefined = Buffer.alloc(0)
  /** Of the body, or of the chunk at hand. */
  #left = 0
  #chunked = false
  #line = ''

  /** Says whether the answer is complete. */
  take(bytes: Buffer): boolean {
    if (!this.#head) return this.#takeBody(bytes)
    const all = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    const end = all.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#head = Buffer.from(all)
      return false
    }
    const head = all.toString('latin1', 0, end)
    if (!head.startsWith('HTTP/1.1 200'))
      throw new Error(`the server answered ${all.toString().slice(0, 400)}`)
    const length = /content-length: (\d+)/i.exec(head)
    this.#chunked = /transfer-encoding: chunked/i.test(head)
    if (!length && !this.#chunked) throw new Error('an answer without an end')
    this.#left = Number(length?.[1] ?? 0)
    this.#head = undefined
    return this.#takeBody(all.subarray(end + 4))
  }

  #takeBody(bytes: Buffer): boolean {
    if (!this.#chunked) {
      this.#left -= bytes.length
      return this.#left <= 0
    }
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at)
        this.#left -= taken
        at += taken
        continue
      }
      const newline = bytes.indexOf(0x0a, at)
      this.#line += bytes.toString('latin1', at, newline < 0 ? undefined : newline)
      if (newline < 0) return false
      at = newline + 1
      const line = this.#line.trim()
      this.#line = ''
      // The end of a chunk's bytes.
      if (line === '') continue
      if (line === '0') return true
      this.#left = Number.parseInt(line, 16) + '\r\n'.length
    }
    return false
  }
}
