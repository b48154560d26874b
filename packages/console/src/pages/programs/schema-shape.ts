// What of a JSON Schema a form can show. Whatever is beyond it is written as JSON, at its place.

export type JsonSchema = Readonly<Record<string, unknown>>

type Kind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'object' | 'json'

export interface Shape {
  kind: Kind
  schema: JsonSchema
  /** Of a choice. */
  options: readonly unknown[]
}

/** By JSON pointers: `/list/0/title`. */
export type Problems = ReadonlyMap<string, string>

const DEEPEST = 16

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a pointer inside of the schema leads to. */
function resolved(schema: unknown, root: JsonSchema): JsonSchema {
  let found = schema
  for (let hops = 0; isObject(found) && typeof found.$ref === 'string' && hops < DEEPEST; hops++) {
    const way = found.$ref.replace(/^#\/?/, '')
    const { $ref: _, ...beside } = found
    let target: unknown = root
    for (const part of way === '' ? [] : way.split('/'))
      target = isObject(target) ? target[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
    found = isObject(target) ? { ...target, ...beside } : {}
  }
  return isObject(found) ? found : {}
}

const BEYOND = ['oneOf', 'anyOf', 'allOf', 'not', 'if', 'patternProperties', 'prefixItems']

/** How a part of a schema is shown. */
export function shapeOf(part: unknown, root: JsonSchema): Shape {
  const schema = resolved(part, root)
  const shape = (kind: Kind, options: readonly unknown[] = []): Shape => ({ kind, schema, options })
  if ('const' in schema) return shape('choice', [schema.const])
  if (Array.isArray(schema.enum)) return shape('choice', schema.enum)
  if (BEYOND.some((word) => word in schema)) return shape('json')
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => type !== 'null')
  const [type = isObject(schema.properties) ? 'object' : undefined] = types
  if (types.length > 1) return shape('json')
  switch (type) {
    case 'string':
      return shape('text')
    case 'number':
    case 'integer':
    case 'boolean':
      return shape(type)
    case 'array':
      return isObject(schema.items) ? shape('list') : shape('json')
    case 'object':
      return Object.keys(propertiesOf(schema)).length > 0 ? shape('object') : shape('json')
    default:
      return shape('json')
  }
}

export const propertiesOf = ({ properties }: JsonSchema): JsonSchema =>
  isObject(properties) ? properties : {}

export const isRequired = ({ required }: JsonSchema, name: string): boolean =>
  Array.isArray(required) && required.includes(name)

/** What stands in a form before somebody has written anything. Undefined: it is left out. */
export function initialValue(part: unknown, root: JsonSchema, required: boolean, depth = 0): unknown {
  const { kind, schema, options } = shapeOf(part, root)
  if (schema.default !== undefined) return schema.default
  if (!required || depth > DEEPEST) return undefined
  if (kind === 'choice' && options.length === 1) return options[0]
  if (kind === 'boolean') return false
  if (kind === 'list') return []
  if (kind !== 'object') return undefined
  const entries = Object.entries(propertiesOf(schema)).flatMap(([name, inner]) => {
    const value = initialValue(inner, root, isRequired(schema, name), depth + 1)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

export const joined = (pointer: string, part: string | number): string =>
  `${pointer}/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`

/** What can be seen without the server: what is missing, and what is no number. */
export function problemsIn(value: unknown, part: unknown, root: JsonSchema, required = true): Problems {
  const problems = new Map<string, string>()
  look(value, part, required, '')
  return problems

  function look(value: unknown, part: unknown, required: boolean, at: string): void {
    const { kind, schema } = shapeOf(part, root)
    if (value === undefined) {
      if (required) problems.set(at, 'Fill this in.')
      return
    }
    if ((kind === 'number' || kind === 'integer') && typeof value === 'string')
      problems.set(at, 'Give a number.')
    else if (kind === 'integer' && typeof value === 'number' && !Number.isInteger(value))
      problems.set(at, 'Give a whole number.')
    else if (kind === 'list' && Array.isArray(value))
      for (const [index, item] of value.entries()) look(item, schema.items, true, joined(at, index))
    else if (kind === 'object' && isObject(value))
      for (const [name, inner] of Object.entries(propertiesOf(schema)))
        look(value[name], inner, isRequired(schema, name), joined(at, name))
  }
}

/** What a server says of an input that does not fit: `input_invalid: /title must be string`. */
export function problemFrom(reason: string): Problems {
  const [, at = '', message = ''] = /^input_invalid: (the value|\/\S*) (.*)$/s.exec(reason) ?? []
  if (!message) return new Map()
  const pointer = at === 'the value' ? '' : at
  const [, missing] = /must have required property '([^']+)'/.exec(message) ?? []
  return new Map([
    [missing ? joined(pointer, missing) : pointer, `${message[0]?.toUpperCase()}${message.slice(1)}.`],
  ])
}

/** What else a value has to be, in words. */
export function hintOf({ schema, kind }: Shape): string {
  const { description, minimum, maximum, minLength, maxLength, format, pattern, minItems, maxItems } = schema
  const bounds = (least: unknown, most: unknown, thing = '') => {
    if (least !== undefined && most !== undefined) return `${least} to ${most}${thing}`
    if (least !== undefined) return `at least ${least}${thing}`
    return most !== undefined ? `at most ${most}${thing}` : ''
  }
  const said = [
    bounds(minimum, maximum),
    bounds(minLength, maxLength, ' characters'),
    bounds(minItems, maxItems, ' items'),
    kind === 'text' && typeof format === 'string' ? (FORMATS[format] ?? format) : '',
    typeof pattern === 'string' ? `like ${pattern}` : '',
  ].filter(Boolean)
  const rules = said.join(', ')
  const words = typeof description === 'string' ? description.replace(/\.?$/, '.') : ''
  return [words, rules && `${rules[0]?.toUpperCase()}${rules.slice(1)}.`].filter(Boolean).join(' ')
}

const FORMATS: Record<string, string> = {
  'date-time': 'a date and time such as 2026-01-31T12:00:00Z',
  date: 'a date',
  email: 'an email address',
  uri: 'a URL',
  uuid: 'a UUID',
}
