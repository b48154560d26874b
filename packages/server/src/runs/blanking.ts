/** Takes the values of secrets out of whatever a run says. */
export type Blank = <T>(value: T) => T

/** Shorter ones are found in words that have nothing to do with them. */
const SHORTEST = 8
const BLANK = '***'
/** What is nested deeper is looked through as text: whoever writes it must not choose how deep this goes. */
const DEEPEST = 100

export function createBlank(secrets: readonly string[]): Blank {
  const forms = new Set(secrets.flatMap(formsOf))
  // The longest first: one may be a part of another.
  const wanted = [...forms].toSorted((a, b) => b.length - a.length)
  if (wanted.length === 0) return (value) => value

  const clean = (text: string): string =>
    wanted.reduce((left, secret) => (left.includes(secret) ? left.replaceAll(secret, BLANK) : left), text)

  function walk(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return clean(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > DEEPEST) return clean(JSON.stringify(value))
    if (Array.isArray(value)) return value.map((inner) => walk(inner, depth + 1))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [clean(key), walk(inner, depth + 1)]),
    )
  }

  return (value) => walk(value, 0) as typeof value
}

/** As it is, as it stands in JSON, and each of its lines: what programs print is told line by line. */
const formsOf = (secret: string): string[] =>
  [secret, JSON.stringify(secret).slice(1, -1), ...secret.split(/\r?\n/)].filter(
    ({ length }) => length >= SHORTEST,
  )
