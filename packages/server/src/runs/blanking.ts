/** Takes the values of secrets out of whatever a run says. */
export type Blank = <T>(value: T) => T

/** Shorter ones are found in words that have nothing to do with them. */
const SHORTEST = 8
const BLANK = '***'

export function createBlank(secrets: readonly string[]): Blank {
  // The longest first: one may be a part of another.
  const wanted = secrets.filter(({ length }) => length >= SHORTEST).toSorted((a, b) => b.length - a.length)
  if (wanted.length === 0) return (value) => value

  const clean = (text: string): string =>
    wanted.reduce((left, secret) => (left.includes(secret) ? left.replaceAll(secret, BLANK) : left), text)

  function walk(value: unknown): unknown {
    if (typeof value === 'string') return clean(value)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), walk(inner)]))
  }

  return (value) => walk(value) as typeof value
}
