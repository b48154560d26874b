// Writes docs/descriptors.md, the reference of both descriptors, from their schemas: `npm run docs`.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedSchemas } from './published-schemas.ts'

export const DESCRIPTORS_PAGE = join(import.meta.dirname, '../../../../docs/descriptors.md')

/** What is used of JSON Schema. */
export interface JsonSchema {
  description?: string
  type?: string
  const?: string
  enum?: string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  additionalProperties?: JsonSchema | boolean
  propertyNames?: JsonSchema
  oneOf?: JsonSchema[]
  examples?: unknown[]
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  pattern?: string
  format?: string
}

export function descriptorsPage(): string {
  const { extension, webhook } = publishedSchemas as { extension: JsonSchema; webhook: JsonSchema }
  const shown = new Set<string>()
  return [
    '# Descriptors',
    'What the files say that declare extensions and webhooks. [Extensions](extensions.md) and [records](records.md) say ' +
      'what\ncomes of it. A key that is not here is an error. Made by `npm run docs`.',
    '## extensions/&lt;name&gt;/extension.json',
    ...sections(extension, shown),
    '## webhooks/&lt;name&gt;/webhook.json',
    ...sections(webhook, shown),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

/** A table of its keys, and then a section for each key with keys of its own that is not in `shown` yet. */
function sections(schema: JsonSchema, shown: Set<string>, path = ''): string[] {
  const properties = Object.entries(schema.properties ?? {})
  const rows = properties.map(([key, value]) => {
    const words = shown.has(keysOf(value)) ? 'object, as above' : inWords(value)
    return [
      `\`${key}\``,
      words + (schema.required?.includes(key) ? ', required' : ''),
      value.description ?? '',
    ]
  })
  return [
    table(['key', 'value', 'meaning'], rows),
    ...properties.flatMap(([key, value]) => {
      const below = path === '' ? key : `${path}.${key}`
      if (shown.has(keysOf(value))) return []
      if (value.properties) shown.add(keysOf(value))
      if (value.properties) return [`### ${below}`, ...sections(value, shown, below)]
      const { oneOf } = typeof value.additionalProperties === 'object' ? value.additionalProperties : {}
      return oneOf ? [`### ${below}.&lt;name&gt;`, variants(oneOf)] : []
    }),
  ]
}

const keysOf = ({ properties }: JsonSchema): string => JSON.stringify(properties) ?? ''

/** Kinds of one thing, told apart by their `type`: each key once for all kinds that have it so. */
function variants(all: JsonSchema[]): string {
  const rows = new Map<string, { kinds: string[]; cells: string[] }>()
  for (const { properties = {}, required } of all) {
    const { type, ...others } = properties
    const kinds = (type?.enum ?? [type?.const ?? '']).map((kind) => `\`${kind}\``)
    for (const [key, value] of Object.entries(others)) {
      const words = inWords(value) + (required?.includes(key) ? ', required' : '')
      const cells = [`\`${key}\``, words, value.description ?? '']
      const row = rows.getOrInsert(cells.join(), { kinds: [], cells })
      row.kinds.push(...kinds)
    }
  }
  const types = all.flatMap(({ properties }) => properties?.type?.enum ?? properties?.type?.const ?? [])
  const listed = [...rows.values()].toSorted((a, b) => b.kinds.length - a.kinds.length)
  const ofKinds = (kinds: string[]) => (kinds.length === types.length ? 'all' : kinds.join(' '))
  return table(
    ['key', 'value', 'meaning', 'of type'],
    [
      [
        '`type`',
        `${types.map((kind) => `\`${kind}\``).join(', ')}, required`,
        'What the field holds.',
        'all',
      ],
      ...listed.map(({ kinds, cells }) => [...cells, ofKinds(kinds)]),
    ],
  )
}

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')

/** What a value may be, in a few words. */
function inWords(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ')
  if (schema.type === 'array') {
    const of = schema.items?.examples?.map((value) => `\`${value}\``).join(', ')
    return `list of ${bounds(schema.minItems, schema.maxItems)}strings${of ? `, such as ${of}` : ''}`
  }
  if (schema.type === 'integer' || schema.type === 'number')
    return [schema.type, bounds(schema.minimum, schema.maximum).trim()].filter(Boolean).join(', ')
  if (schema.type === 'boolean') return '`true` or `false`'
  if (schema.type !== 'string') return schema.type ?? 'any JSON'
  const { minLength, maxLength } = schema
  const length = maxLength === undefined ? '' : bounds(minLength, maxLength)
  return [
    schema.format === 'uri' ? 'URL' : 'string',
    ...(length ? [`${length}characters`] : []),
    ...(schema.pattern && schema.format !== 'uri' ? [`like \`${schema.pattern}\``] : []),
  ].join(', ')
}

/** Those that only say that a number is exact are left out. */
function bounds(min: number | undefined, max: number | undefined): string {
  const isSaid = (bound: number | undefined) =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER
  if (!isSaid(max)) return ''
  return isSaid(min) ? `${min} to ${max} ` : `up to ${max} `
}

if (import.meta.main) writeFileSync(DESCRIPTORS_PAGE, descriptorsPage())
