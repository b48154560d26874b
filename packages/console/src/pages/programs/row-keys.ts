import { useShortcuts } from '../../keys/shortcuts.ts'

/** `j` and `k` go from row to row, among the links that are marked so: `<Link data-row …>`. */
export function useRowKeys(thing: string): void {
  const step = (by: number) => {
    const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
    const at = rows.indexOf(document.activeElement as HTMLElement)
    rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by]?.focus()
  }
  useShortcuts([
    { keys: 'j', does: `The next ${thing}`, run: () => step(1) },
    { keys: 'k', does: `The ${thing} before`, run: () => step(-1) },
  ])
}
