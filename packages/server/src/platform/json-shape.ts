// What JSON is made of, found out before anybody reads it: what takes long is not how many bytes there are, but how many
// values they make, and how deep they lie in each other.

export interface JsonBounds {
  values: number
  levels: number
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [BRACKET, BRACE, BRACKET_END, BRACE_END] = [0x5b, 0x7b, 0x5d, 0x7d]

interface JsonShape {
  /** How many there are at the most. */
  values: number
  /** What is too much of it. */
  problem?: string
}

/** Text that is no JSON may get through, and fails when it is read. */
export function shapeOf(text: string, { values, levels }: JsonBounds): JsonShape {
  // Each takes a character at least.
  if (text.length < values && text.length <= levels) return { values: text.length }
  // There are no more values than brackets, braces and commas, and one.
  let found = 1
  let level = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === BRACKET_END || code === BRACE_END) level--
    else if (code === BRACKET || code === BRACE) {
      found++
      if (++level > levels) return { values: found, problem: `more than ${levels} levels` }
    } else if (code === COMMA) found++
    if (found > values) return { values: found, problem: `more than ${values} values` }
  }
  return { values: found }
}

/** Where the string that begins here ends. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return text.length
}
