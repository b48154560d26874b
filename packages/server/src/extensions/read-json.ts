import type { JsonProblem } from './problems.ts'

const MAX_DEPTH = 64

type Read = { value: unknown; problems?: undefined } | { problems: JsonProblem[] }

/** JSON that may come from anybody: of any bytes, as deep as they like, with keys that mean something to JavaScript. */
export function readJson(bytes: Uint8Array): Read {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8'
    return { problems: [{ at: [], message: `This is not JSON: ${reason}` }] }
  }
  const problem = firstProblem(value)
  return problem ? { problems: [problem] } : { value }
}

/** Without recursion: what is to be found out is whether recursion would be safe. */
function firstProblem(root: unknown): JsonProblem | undefined {
  const open: { value: unknown; at: PropertyKey[] }[] = [{ value: root, at: [] }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, at } = next
    if (typeof value !== 'object' || value === null) continue
    if (at.length >= MAX_DEPTH) return { at, message: `This is nested more than ${MAX_DEPTH} levels deep` }
    for (const [key, item] of Object.entries(value)) {
      const below = [...at, Array.isArray(value) ? Number(key) : key]
      if (key === '__proto__') return { at: below, message: 'Unknown key' }
      if (typeof item === 'number' && !Number.isFinite(item))
        return { at: below, message: 'This number is too large: it cannot be given back' }
      if (typeof item === 'object') open.push({ value: item, at: below })
    }
  }
  return undefined
}
