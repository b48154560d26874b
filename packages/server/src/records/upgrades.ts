import { type Data, valueIn } from './rows.ts'

/** What a later schema makes of rows that were written before it. */
export type Change =
  | { op: 'backfill'; field: string; value: unknown }
  | { op: 'convert'; field: string; to: 'integer' | 'number' }
  | { op: 'drop'; field: string }

/** Changes that came with a version: rows of an earlier one are read through them. */
export interface Upgrade {
  version: number
  changes: readonly Change[]
}

/** A row as the schema in force has it. It keeps the shape it was written in until somebody rewrites it. */
export function upgraded(data: Data, version: number, upgrades: readonly Upgrade[]): Data {
  const due = upgrades.filter((upgrade) => upgrade.version > version)
  return due.length === 0
    ? data
    : changed(
        data,
        due.flatMap(({ changes }) => changes),
      )
}

export function changed(data: Data, changes: readonly Change[]): Data {
  const result: Data = { ...data }
  for (const change of changes) {
    const value = valueIn(result, change.field)
    if (change.op === 'drop') delete result[change.field]
    else if (change.op === 'backfill') result[change.field] = value ?? change.value
    else if (typeof value === 'string') result[change.field] = parseNumber(value, change.to)
  }
  return result
}

/** Undefined for text that says no such number. */
export function parseNumber(text: string, type: 'integer' | 'number'): number | undefined {
  const pattern = type === 'integer' ? /^[+-]?\d+$/ : /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/
  if (text.length > 400 || !pattern.test(text)) return undefined
  const value = Number(text)
  const isExact = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
  return isExact ? value : undefined
}
