import type * as z from 'zod'

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

const FORMATS: Record<string, string> = {
  email: 'an email address',
  uuid: 'a UUID',
  url: 'a URL',
}

/** What is wrong with a value, for whoever wrote it; undefined leaves it to the words of the schema, or of zod. */
export const shapeWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return 'Required'
      const type = TYPES[issue.expected]
      return type && `Must be ${type}`
    }
    case 'too_small':
      return sized(issue.origin, 'at least', Number(issue.minimum))
    case 'too_big':
      return sized(issue.origin, 'at most', Number(issue.maximum))
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? oneOf(issue.options) : undefined
    case 'invalid_format': {
      const format = FORMATS[issue.format]
      return format && `Must be ${format}`
    }
    default:
      return undefined
  }
}

function sized(origin: string, bound: 'at least' | 'at most', size: number): string {
  const [one, many] = origin === 'string' ? ['character', 'characters'] : ['item', 'items']
  if (origin === 'string' || origin === 'array')
    return `Must have ${bound} ${size} ${size === 1 ? one : many}`
  return `Must be ${bound} ${size}`
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `Must be ${values[0]}` : `Must be one of ${values.join(', ')}`
