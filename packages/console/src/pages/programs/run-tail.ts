import type { LogEvent } from '@trellis/contract'
import { useEffect, useEffectEvent } from 'react'

const RETRY_MS = 2_000
/** After so long others have their turn: a browser's own reader hands over thousands of events at once. */
const SLICE_MS = 8

/** Follows the log of a run from its first event. Comes again by itself, where it was; undefined follows nothing. */
export function useRunTail(path: string | undefined, onEvent: (event: LogEvent) => void): void {
  const take = useEffectEvent(onEvent)
  useEffect(() => {
    if (!path) return
    const stop = new AbortController()
    void follow(path, (event) => take(event), stop.signal)
    return () => stop.abort()
  }, [path])
}

async function follow(path: string, take: (event: LogEvent) => void, signal: AbortSignal): Promise<void> {
  let last = ''
  while (!signal.aborted) {
    const isOver = await read(path, last, signal, (id, event) => {
      last = id
      take(event)
    }).catch(() => false)
    if (isOver) return
    await pause(RETRY_MS)
  }
}

/** True when there is nothing more to come. */
async function read(
  path: string,
  last: string,
  signal: AbortSignal,
  take: (id: string, event: LogEvent) => void,
): Promise<boolean> {
  const response = await fetch(path, { signal, headers: last ? { 'last-event-id': last } : {} })
  if (response.status === 204 || [401, 403, 404].includes(response.status)) return true
  if (!response.ok || !response.body) return false
  let rest = ''
  let begun = performance.now()
  for await (const text of textsOf(response.body)) {
    const frames = (rest + text).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const [, id, data] = /^id: (.*)\ndata: (.*)$/s.exec(frame) ?? []
      if (id !== undefined && data !== undefined) take(id, JSON.parse(data) as LogEvent)
      if (performance.now() - begun < SLICE_MS) continue
      await pause(0)
      if (signal.aborted) return true
      begun = performance.now()
    }
  }
  return false
}

async function* textsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    yield value
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
