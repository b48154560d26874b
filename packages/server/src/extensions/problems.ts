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

const MAX_POINTER_CHARACTERS = 500

export function locate(file: string, { at, message }: JsonProblem): Problem {
  const pointer = at.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  if (pointer === '') return { path: file, message }
  const shown =
    pointer.length > MAX_POINTER_CHARACTERS ? `${pointer.slice(0, MAX_POINTER_CHARACTERS)}…` : pointer
  return { path: `${file}#${shown}`, message }
}

/** So many, and that there are more: nobody reads thousands, and an answer must not grow with what is wrong. */
export function firstProblems(problems: readonly Problem[], max: number, path: string): Problem[] {
  if (problems.length <= max) return [...problems]
  return [...problems.slice(0, max), { path, message: `and ${problems.length - max} more problems` }]
}
