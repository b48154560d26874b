// Reads of a source map only what is asked for: Node's own reader takes half a second for the map of a large bundle, in
// which nobody else is served, and 150 MB.

export interface SourceMappings {
  sources: readonly string[]
  mappings: string
}

interface Position {
  /** Both from 1, as in a stack. */
  line: number
  column: number
}

const DIGITS = new Int8Array(128).fill(-1)
for (const [value, digit] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  DIGITS[digit.charCodeAt(0)] = value

const COMMA = 44
const SEMICOLON = 59

/** What is at these positions of the bundle, as `source:line:column`; undefined where nobody wrote anything. */
export function findSources(
  { sources, mappings }: SourceMappings,
  positions: readonly Position[],
): (string | undefined)[] {
  const found: (string | undefined)[] = positions.map(() => undefined)
  const last = Math.max(...positions.map(({ line }) => line))
  // Of a segment: the column in the bundle, then the source, its line and its column, each told as a difference.
  const fields = [0, 0, 0, 0]
  let line = 1
  let field = 0
  let value = 0
  let shift = 0
  for (let at = 0; at <= mappings.length && line <= last; at++) {
    const code = at < mappings.length ? mappings.charCodeAt(at) : SEMICOLON
    if (code === COMMA || code === SEMICOLON) {
      if (field >= 4)
        for (const [index, position] of positions.entries())
          if (position.line === line && (fields[0] ?? 0) < position.column)
            found[index] = `${sources[fields[1] ?? 0]}:${(fields[2] ?? 0) + 1}:${(fields[3] ?? 0) + 1}`
      field = 0
      if (code === SEMICOLON) {
        line++
        fields[0] = 0
      }
      continue
    }
    const digit = DIGITS[code] ?? -1
    if (digit < 0) return found
    value |= (digit & 31) << shift
    shift += 5
    if (digit & 32) continue
    if (field < 4) fields[field] = (fields[field] ?? 0) + (value & 1 ? -(value >> 1) : value >> 1)
    field++
    value = 0
    shift = 0
  }
  return found
}
