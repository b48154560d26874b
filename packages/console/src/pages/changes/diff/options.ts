import { useSyncExternalStore } from 'react'
import type { View } from './rows.ts'

/** How somebody likes to read changes. */
interface Reading {
  view: View
  wrap: boolean
}

const KEY = 'diff'
const listeners = new Set<() => void>()
/** On a phone two columns are too narrow to read. */
const NARROW = matchMedia('(max-width: 48rem)')

let chosen: Reading = remembered()

function remembered(): Reading {
  const usual: Reading = { view: 'split', wrap: false }
  try {
    const { view, wrap } = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return { view: view === 'unified' ? 'unified' : 'split', wrap: wrap === true }
  } catch {
    // Storage may be forbidden, or hold something else.
    return usual
  }
}

export function chooseReading(change: Partial<Reading>): void {
  chosen = { ...chosen, ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen))
  } catch {
    // It holds until the page is left.
  }
  for (const listener of listeners) listener()
}

export function useReading(): Reading & { isNarrow: boolean } {
  const reading = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => chosen,
  )
  const isNarrow = useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener('change', listener)
      return () => NARROW.removeEventListener('change', listener)
    },
    () => NARROW.matches,
  )
  return { ...reading, view: isNarrow ? 'unified' : reading.view, isNarrow }
}
