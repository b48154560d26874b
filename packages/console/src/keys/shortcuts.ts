import { useEffect, useEffectEvent } from 'react'

/** Keys that do something wherever the focus is, unless somebody is writing. */
interface Shortcut {
  /** One key, two after one another (`g c`), or with the key of commands (`mod+k`). */
  keys: string
  /** In words, for the list of all. */
  does: string
  run: () => void
}

const isMac: boolean = /mac|iphone|ipad/i.test(navigator.platform)
export const modKey = isMac ? '⌘' : 'Ctrl'

/** So long the second key of two may take. */
const PATIENCE_MS = 1_500

const active = new Set<Shortcut>()
let first: { key: string; at: number } | undefined

/** All that work now, for the list of them. */
export const activeShortcuts = (): Shortcut[] => [...active]

/** A page's own key: `useShortcut('y', 'Pin the address', pin)`. */
export function useShortcut(keys: string, does: string, run: () => void): void {
  useShortcuts([{ keys, does, run }])
}

export function useShortcuts(shortcuts: Shortcut[]): void {
  const run = useEffectEvent((keys: string) => shortcuts.find((shortcut) => shortcut.keys === keys)?.run())
  const said = JSON.stringify(shortcuts.map(({ keys, does }) => [keys, does]))
  useEffect(() => {
    const listed: [keys: string, does: string][] = JSON.parse(said)
    const added = listed.map(([keys, does]) => ({ keys, does, run: () => run(keys) }))
    for (const shortcut of added) active.add(shortcut)
    return () => {
      for (const shortcut of added) active.delete(shortcut)
    }
  }, [said])
}

/** Listens for all of them. The one that was added last goes first. */
export function listenForShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    const mod = isMac ? event.metaKey : event.ctrlKey
    if (!mod && (event.metaKey || event.ctrlKey || isWriting(event.target))) return
    const pressed = mod ? `mod+${event.key.toLowerCase()}` : event.key
    const before = first && event.timeStamp - first.at < PATIENCE_MS ? `${first.key} ${pressed}` : undefined
    const all = activeShortcuts().reverse()
    const found =
      (before && all.find(({ keys }) => keys === before)) || all.find(({ keys }) => keys === pressed)
    first = found ? undefined : { key: pressed, at: event.timeStamp }
    if (!found) return
    event.preventDefault()
    found.run()
  })
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, textarea, select, [role=dialog] *, [role=menu] *'))
