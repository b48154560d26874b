import type { Issue } from '@trellis/contract'
import { type Field, valueProblem } from './fields.ts'
import type { Schema } from './schema.ts'

/** What a row holds, by field. A field without a value is absent. */
export type Data = Record<string, unknown>

/** An enum that went from one state to another. */
interface Transition {
  field: string
  from: string
  to: string
}

interface Checked {
  data: Data
  issues: Issue[]
}

/** What a new row holds, defaults included. */
export function newData(schema: Schema, given: Data): Checked {
  const issues = unknownFields(schema, given)
  const data: Data = {}
  for (const [name, field] of schema.fields) {
    const value = valueIn(given, name) ?? field.default
    if (value !== undefined) data[name] = value
    issues.push(...problemsOf(name, field, value))
  }
  return { data, issues }
}

/** What a row holds after a change. Null takes a value away. */
export function changedData(
  schema: Schema,
  before: Data,
  changes: Data,
): Checked & { transitions: Transition[] } {
  const issues = unknownFields(schema, changes)
  const data: Data = {}
  const transitions: Transition[] = []
  for (const [name, field] of schema.fields) {
    const old = valueIn(before, name)
    const isGiven = Object.hasOwn(changes, name) && changes[name] !== undefined
    const value = isGiven ? (changes[name] ?? undefined) : old
    if (value !== undefined) data[name] = value
    if (!isGiven) continue
    const problems = problemsOf(name, field, value)
    issues.push(...problems)
    if (problems.length > 0 || !field.transitions || old === undefined || old === value) continue
    const move = { field: name, from: String(old), to: String(value ?? null) }
    if (value !== undefined && field.transitions.get(move.from)?.includes(move.to)) transitions.push(move)
    else issues.push(at(name, `must not go from ${move.from} to ${move.to}`))
  }
  return { data, issues, transitions }
}

/** Why a row that is there cannot stay as it is under a schema; refs are not followed. */
export function misfits(schema: Schema, data: Data): Issue[] {
  return [...schema.fields].flatMap(([name, field]) => problemsOf(name, field, valueIn(data, name)))
}

export const at = (field: string, message: string): Issue => ({ path: ['data', field], message })

/** Own values alone: an object inherits what nobody wrote. Null says the same as nothing. */
export const valueIn = (data: Data, name: string): unknown =>
  Object.hasOwn(data, name) ? (data[name] ?? undefined) : undefined

function problemsOf(name: string, field: Field, value: unknown): Issue[] {
  if (value === undefined) return field.required ? [at(name, 'is required')] : []
  const problem = valueProblem(field, value)
  return problem ? [at(name, problem)] : []
}

const unknownFields = (schema: Schema, given: Data): Issue[] =>
  Object.keys(given)
    .filter((name) => !schema.fields.has(name))
    .map((name) => at(name, 'is not a field of this record'))
