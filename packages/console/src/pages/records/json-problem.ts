/** What is wrong with a text that should be JSON, and where; undefined when nothing is. */
export function jsonProblem(text: string): { message: string; line: number; column: number } | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    const at = firstWrong(text)
    const before = text.slice(0, at).split('\n')
    const found = text[at]
    return {
      message: found === undefined ? 'it ends too early' : `${JSON.stringify(found)} does not belong there`,
      line: before.length,
      column: (before.at(-1)?.length ?? 0) + 1,
    }
  }
}

const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy
const LITERAL = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y

/** Browsers do not agree on where they say it, so it is looked for: the place after the longest right beginning. */
function firstWrong(text: string): number {
  let at = 0
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const length = pattern.exec(text)?.[0].length
    if (length !== undefined) at += length
    return length !== undefined
  }
  const next = (): string | undefined => {
    skip(SPACE)
    return text[at]
  }
  const take = (character: string): boolean => {
    if (next() !== character) return false
    at++
    return true
  }
  const list = (end: string, item: () => boolean): boolean => {
    at++
    if (take(end)) return true
    do if (!item()) return false
    while (take(','))
    return take(end)
  }
  const member = (): boolean => {
    next()
    return skip(STRING) && take(':') && value()
  }
  function value(): boolean {
    const first = next()
    if (first === '{') return list('}', member)
    if (first === '[') return list(']', value)
    return skip(STRING) || skip(LITERAL)
  }
  value()
  next()
  return at
}
