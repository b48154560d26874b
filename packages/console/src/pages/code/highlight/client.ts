import { useEffect, useReducer, useRef } from 'react'
import type { Asked, Colours, Told } from './protocol.ts'

/** A pattern may never come to an end with some text. Then colours are given up, not the text. */
const PATIENCE_MS = 20_000

let worker: Worker | undefined
let lastId = 0
let overdue: ReturnType<typeof setTimeout> | undefined
const listeners = new Map<number, (told: Told) => void>()

/** Colours a text as it goes, until it is done or stopped. */
function colour(text: string, language: string, onTold: (told: Told) => void): () => void {
  const id = ++lastId
  listeners.set(id, onTold)
  worker ??= start()
  worker.postMessage({ id, language, text } satisfies Asked)
  watch()
  return () => {
    if (!listeners.delete(id)) return
    worker?.postMessage({ id, stop: true } satisfies Asked)
    watch()
  }
}

function start(): Worker {
  const made = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'highlight' })
  made.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    listeners.get(data.id)?.(data)
    if (data.done) listeners.delete(data.id)
    watch()
  })
  return made
}

function watch(): void {
  clearTimeout(overdue)
  if (listeners.size > 0) overdue = setTimeout(giveUp, PATIENCE_MS)
}

function giveUp(): void {
  worker?.terminate()
  worker = undefined
  listeners.clear()
}

/** The colours of lines as far as they are known; more come by themselves. */
export function useColours(
  text: string,
  language: string | undefined,
): (line: number) => Colours | undefined {
  const known = useRef<Colours[]>([])
  const [, show] = useReducer((times: number) => times + 1, 0)
  useEffect(() => {
    known.current = []
    if (!language) return
    return colour(text, language, ({ from, lines }) => {
      for (const [i, colours] of lines.entries()) known.current[from + i] = colours
      show()
    })
  }, [text, language])
  return (line) => known.current[line]
}
