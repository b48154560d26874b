import { useLocation, useNavigate } from '@tanstack/react-router'
import type { MouseEvent } from 'react'

/** Lines of one side of a file: before (`L`) or after (`R`). */
export interface LineRange {
  side: 'L' | 'R'
  from: number
  to: number
}

/** What an address points at: a file, or lines of it. */
interface Pointed {
  path: string
  lines?: LineRange
}

const LINES = /^(.*):([LR])(\d+)(?:-(\d+))?$/s

function readPlace(hash: string): Pointed | undefined {
  if (hash === '') return undefined
  const [, path = hash, side, from = '', to = from] = LINES.exec(hash) ?? []
  if (side !== 'L' && side !== 'R') return { path: hash }
  const ends = [Number(from), Number(to)].sort((a, b) => a - b)
  return { path, lines: { side, from: ends[0] ?? 0, to: ends[1] ?? 0 } }
}

export const writePlace = ({ path, lines }: Pointed): string =>
  lines ? `${path}:${lines.side}${lines.from}${lines.to > lines.from ? `-${lines.to}` : ''}` : path

/** As it is written into a link. */
export const hrefOf = (place: string): string => `#${encodeURIComponent(place).replaceAll('%2F', '/')}`

export function usePointed(): Pointed | undefined {
  return readPlace(useLocation({ select: ({ hash }) => decode(hash) }))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A click on the number of a line puts it into the address; with shift, all lines up to it. */
export function useLineLinks(path: string, pointed: LineRange | undefined) {
  const navigate = useNavigate()
  return (event: MouseEvent<HTMLElement>) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('a[data-line]') : null
    if (!link || event.metaKey || event.ctrlKey) return
    event.preventDefault()
    const [side, line] = [link.dataset.side === 'L' ? 'L' : 'R', Number(link.dataset.line)] as const
    const isMore = event.shiftKey && pointed?.side === side
    const lines = isMore
      ? { side, from: Math.min(pointed.from, line), to: Math.max(pointed.to, line) }
      : { side, from: line, to: line }
    void navigate({
      to: '.',
      search: true,
      hash: writePlace({ path, lines }),
      replace: true,
      resetScroll: false,
      hashScrollIntoView: false,
    })
  }
}
