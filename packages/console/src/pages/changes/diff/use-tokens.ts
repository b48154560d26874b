import { useMemo, useState } from 'react'
import { useColours } from '../../code/highlight/client.ts'
import { languageOfFile } from '../../code/highlight/languages.ts'
import type { Colours } from '../../code/highlight/protocol.ts'
import type { Line } from './patch.ts'
import type { Row } from './rows.ts'

/** How a line is coloured, as far as it is known; the text is there before. */
export type Tokens = (line: Line) => Colours | undefined

/** The colours of a file that changed: what it was and what it is are coloured each by itself. */
export function useTokens(path: string, rows: readonly Row[], isNear: boolean): Tokens {
  // Once it came near it is coloured, and stays so.
  const [wasNear, setWasNear] = useState(false)
  if (isNear && !wasNear) setWasNear(true)
  const language = wasNear ? languageOfFile(path) : undefined
  const { before, after } = useMemo(() => sidesOf(rows), [rows])
  const ofBefore = useColours(before.text, before.hasOwn ? language : undefined)
  const ofAfter = useColours(after.text, language)
  return (line) => {
    const [side, colours] = line.kind === 'removed' ? [before, ofBefore] : [after, ofAfter]
    const at = side.places.get(line)
    return at === undefined ? undefined : colours(at)
  }
}

interface Side {
  text: string
  places: Map<Line, number>
  /** Whether it has lines that the other has not. */
  hasOwn: boolean
}

function sidesOf(rows: readonly Row[]): { before: Side; after: Side } {
  const lines = rows.flatMap((row) =>
    row.kind === 'gap' ? [] : row.kind === 'line' ? [row.cell] : [row.before, row.after],
  )
  const all = new Set(lines.flatMap((cell) => (cell ? [cell.line] : [])))
  return { before: sideOf(all, 'removed'), after: sideOf(all, 'added') }
}

function sideOf(all: Iterable<Line>, own: 'removed' | 'added'): Side {
  const places = new Map<Line, number>()
  const texts: string[] = []
  let hasOwn = false
  for (const line of all) {
    if (line.kind !== 'same' && line.kind !== own) continue
    if (line.kind === own) hasOwn = true
    places.set(line, texts.length)
    texts.push(line.text)
  }
  return { text: texts.join('\n'), places, hasOwn }
}
