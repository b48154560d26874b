/** Something that is wrong with a file of a repository: where, and what. */
export interface Problem {
  /** A path in the repository; inside of a JSON file followed by `#` and a JSON pointer. */
  path: string
  message: string
}

/** Where in a JSON document. */
export type JsonPath = readonly PropertyKey[]

/** Something that is wrong inside of a JSON document. */
export interface JsonProblem {
  at: JsonPath
  message: string
}

/** Both repeat what somebody wrote, of any length. */
const MAX_POINTER_CHARACTERS = 500
const MAX_MESSAGE_CHARACTERS = 500

export function locate(file: string, { at, message }: JsonProblem): Problem {
  const pointer = at.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  const path = pointer === '' ? file : `${file}#${shorten(pointer, MAX_POINTER_CHARACTERS)}`
  return { path, message: shorten(message, MAX_MESSAGE_CHARACTERS) }
}

const shorten = (text: string, max: number) => (text.length > max ? `${text.slice(0, max)}…` : text)

/** So many, and that there are more: nobody reads thousands, and an answer must not grow with what is wrong. */
export function firstProblems(problems: readonly Problem[], max: number, path: string): Problem[] {
  if (problems.length <= max) return [...problems]
  return [...problems.slice(0, max), { path, message: `and ${problems.length - max} more problems` }]
}
