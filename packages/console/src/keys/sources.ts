import { useEffect, useEffectEvent } from 'react'
import type { IconName } from '../ui/Icon.tsx'

/** Something one can go to from the palette. */
export interface Found {
  id: string
  label: string
  /** Beside it, smaller: where it is. */
  detail?: string
  icon: IconName
  /** A path of the console, or something to do. */
  go: string | (() => void)
}

export interface Source {
  /** What its finds are: `Files`. */
  name: string
  /** At most a few, the best first. */
  find: (text: string, signal: AbortSignal) => Promise<Found[]> | Found[]
}

const sources = new Set<Source>()

/** What can be found now. */
export const activeSources = (): Source[] => [...sources]

/** Lets the palette find what a page knows of, such as the files of its repository, while the page is there. */
export function usePaletteSource({ name, find }: Source): void {
  const ask = useEffectEvent(find)
  useEffect(() => {
    const source: Source = { name, find: (text, signal) => ask(text, signal) }
    sources.add(source)
    return () => void sources.delete(source)
  }, [name])
}

/** Whether all letters of a text stand in a label, in their order; the closer together the better, 0 for not at all. */
function likeness(text: string, label: string): number {
  const [wanted, among] = [text.toLowerCase(), label.toLowerCase()]
  if (wanted === '') return 1
  const at = among.indexOf(wanted)
  if (at >= 0) return 1_000 - at - among.length / 100
  let from = 0
  for (const letter of wanted) {
    const next = among.indexOf(letter, from)
    if (next < 0) return 0
    from = next + 1
  }
  return 100 - from / 10
}

/** The best of some, by how like their labels are. */
export const best = (text: string, all: Found[], most = 8): Found[] =>
  all
    .map((found) => ({ found, score: likeness(text, found.label) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ found }) => found)
