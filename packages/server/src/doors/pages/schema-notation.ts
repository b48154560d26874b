import type { JsonSchema } from '../api/openapi-document.ts'

/** Gives what a reference stands for. */
export type Follow = (schema: JsonSchema) => JsonSchema

/** Writes a schema the way a person would: close to TypeScript, with the limits beside and the meaning behind. */
export function notation(follow: Follow, unfollowed: JsonSchema, indent = ''): string {
  const schema = follow(unfollowed)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map((choice) => notation(follow, choice, indent)).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.type === 'array') return `${itemNotation(follow, schema.items ?? {}, indent)}[]${limits(schema)}`
  if (schema.properties) return objectNotation(follow, schema, indent)
  return `${schema.type ?? 'any'}${limits(schema)}`
}

function objectNotation(
  follow: Follow,
  { properties = {}, required = [] }: JsonSchema,
  indent: string,
): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, unfollowed]) => {
    const property = follow(unfollowed)
    const optional = required.includes(name) ? '' : '?'
    const fallback = property.default === undefined ? '' : ` = ${JSON.stringify(property.default)}`
    const field = `${inner}${name}${optional}: ${notation(follow, property, inner)}${fallback}`
    return withMeaning(field, meaningOf(follow, property))
  })
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`
}

/** What a field means; for one that may be null, what it means when it is not. */
function meaningOf(follow: Follow, property: JsonSchema): string | undefined {
  if (property.description) return property.description
  const [only, ...others] = (property.anyOf ?? []).map(follow).filter(({ type }) => type !== 'null')
  return others.length === 0 ? only?.description : undefined
}

/** Behind the first line: where a field is an object or a list of them, its own fields follow. */
function withMeaning(field: string, meaning: string | undefined): string {
  if (!meaning) return field
  const [first, ...rest] = field.split('\n')
  return [`${first}  // ${meaning}`, ...rest].join('\n')
}

function itemNotation(follow: Follow, items: JsonSchema, indent: string): string {
  const { anyOf, oneOf, enum: words } = follow(items)
  const text = notation(follow, items, indent)
  return anyOf || oneOf || words ? `(${text})` : text
}

function limits(schema: JsonSchema): string {
  const least = schema.minLength ?? schema.minimum ?? schema.minItems
  const greatest = schema.maxLength ?? schema.maximum ?? schema.maxItems
  const bounded = greatest !== undefined && greatest < Number.MAX_SAFE_INTEGER
  const low = least !== undefined && least > Number.MIN_SAFE_INTEGER ? least : undefined
  const parts = [
    schema.format,
    low !== undefined && bounded ? `${low}–${greatest}` : low !== undefined ? `≥ ${low}` : undefined,
    low === undefined && bounded ? `≤ ${greatest}` : undefined,
    schema.pattern && !schema.format ? schema.pattern : undefined,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
