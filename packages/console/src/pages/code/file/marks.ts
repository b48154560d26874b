/** Lines that an address points to, counted from one. */
interface Marked {
  from: number
  to: number
}

/** `L10` or `L10-L20`, as behind the `#` of an address. */
export function readMarked(hash: string): Marked | undefined {
  const [, first, last = first] = /^L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash) ?? []
  const [a, b] = [Number(first), Number(last)]
  return a > 0 && b > 0 ? { from: Math.min(a, b), to: Math.max(a, b) } : undefined
}

export const writeMarked = ({ from, to }: Marked): string => (from === to ? `L${from}` : `L${from}-L${to}`)
