import { type DeclaredRecord, MAX_FIELDS, MAX_INDEXES, type RecordField } from './descriptor-schema.ts'
import type { JsonPath, JsonProblem } from './problems.ts'

/** What the shape of a declared record cannot say. */
export function recordProblems({ fields, indexes = [] }: DeclaredRecord, at: JsonPath): JsonProblem[] {
  const problems: JsonProblem[] = []
  const tell = (below: JsonPath, message: string) => problems.push({ at: [...at, ...below], message })
  const names = Object.keys(fields)
  if (names.length > MAX_FIELDS) tell(['fields'], `A record has up to ${MAX_FIELDS} fields`)
  if (indexes.length > MAX_INDEXES) tell(['indexes'], `A record has up to ${MAX_INDEXES} indexes`)

  for (const [i, index] of indexes.entries()) {
    const parts = index.split(',')
    for (const part of parts)
      if (!Object.hasOwn(fields, part)) tell(['indexes', i], `There is no field ${part}`)
      else if (fields[part]?.type === 'json') tell(['indexes', i], `${part} is json, which has no order`)
    if (new Set(parts).size < parts.length) tell(['indexes', i], 'A field is here twice')
    if (indexes.indexOf(index) < i) tell(['indexes', i], 'This index is here twice')
  }
  for (const [name, field] of Object.entries(fields))
    for (const { at: below, message } of fieldProblems(field)) tell(['fields', name, ...below], message)
  return problems
}

function fieldProblems(field: RecordField): JsonProblem[] {
  const problems: JsonProblem[] = []
  const tell = (at: JsonPath, message: string) => problems.push({ at, message })
  if ('min' in field || 'max' in field) {
    const { min = -Infinity, max = Infinity } = field
    if (min > max) tell(['min'], 'The least is more than the most')
    const given = field.default
    if (typeof given === 'number' && (given < min || given > max))
      tell(['default'], 'The default is out of range')
  }
  if (
    'maxLength' in field &&
    field.maxLength !== undefined &&
    [...(field.default ?? '')].length > field.maxLength
  )
    tell(['default'], 'The default is too long')
  if (field.type === 'enum') {
    const isValue = (value: string) => field.values.includes(value)
    for (const [i, value] of field.values.entries())
      if (field.values.indexOf(value) < i) tell(['values', i], `${value} is here twice`)
    if (field.default !== undefined && !isValue(field.default))
      tell(['default'], 'The default is none of the values')
    for (const [from, next] of Object.entries(field.transitions ?? {})) {
      if (!isValue(from)) tell(['transitions', from], `${from} is none of the values`)
      for (const [i, to] of next.entries())
        if (!isValue(to)) tell(['transitions', from, i], `${to} is none of the values`)
    }
  }
  return problems
}
