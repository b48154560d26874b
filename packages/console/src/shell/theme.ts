import { useSyncExternalStore } from 'react'

type Theme = 'system' | 'light' | 'dark'

export const THEMES: readonly { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

const KEY = 'theme'
const listeners = new Set<() => void>()

/** What was chosen, as the script before the first drawing has found it. */
const chosen = (): Theme => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system'

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  try {
    if (theme === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Storage may be forbidden: it holds until the page is left.
  }
  for (const listener of listeners) listener()
}

export const useTheme = (): Theme =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, chosen)
