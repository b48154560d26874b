/** As much of JSON Schema as the contract uses. */
export interface JsonSchema {
  type?: string
  const?: unknown
  enum?: unknown[]
  default?: unknown
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

/** Writes a schema the way a person would, close to TypeScript with the limits beside. */
export function notation(schema: JsonSchema, indent = ''): string {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map((choice) => notation(choice, indent)).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.type === 'array') return `${itemNotation(schema.items ?? {}, indent)}[]${limits(schema)}`
  if (schema.properties) return objectNotation(schema, indent)
  return `${schema.type ?? 'any'}${limits(schema)}`
}

function objectNotation({ properties = {}, required = [] }: JsonSchema, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, property]) => {
    const optional = required.includes(name) ? '' : '?'
    const fallback = property.default === undefined ? '' : ` = ${JSON.stringify(property.default)}`
    return `${inner}${name}${optional}: ${notation(property, inner)}${fallback}`
  })
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`
}

function itemNotation(items: JsonSchema, indent: string): string {
  const text = notation(items, indent)
  return text.includes(' | ') && !text.startsWith('{') ? `(${text})` : text
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
