import type { MigrationPlanEntry } from '@trellis/contract'
import { canonicalJson } from '../platform/hashes.ts'
import { type Field, typeProblem, valueProblem } from './fields.ts'
import { type Data, valueIn } from './rows.ts'
import type { Schema } from './schema.ts'
import { type Change, changed, parseNumber } from './upgrades.ts'

/** Something that may be wrong with rows. How many it is true of decides whether a migration can be. */
interface Check {
  field: string
  /** Of a row as the schema in force has it. Left out: the rows count whose value another one has, too. */
  fails?(data: Data): boolean
  reason(rows: number): string
}

/** What leads from one schema to the next. */
export interface Comparison {
  steps: (rows: number) => string[]
  /** What becomes of rows. */
  changes: Change[]
  checks: Check[]
}

type Kind = MigrationPlanEntry['kind']

/** The plan, from how many rows there are and how many of them fail each check. */
export function planFrom(
  { steps, checks }: Comparison,
  { rows, failing }: { rows: number; failing: readonly number[] },
): { kind: Kind; steps: string[]; reasons?: string[] } {
  const planned = steps(rows)
  const reasons = checks.flatMap(({ reason }, i) => (failing[i] ? [reason(failing[i])] : []))
  if (reasons.length > 0) return { kind: 'blocked', steps: planned, reasons }
  return { kind: planned.length === 0 ? 'noop' : 'migrate', steps: planned }
}

/** The steps that make a record there was none of. */
export const creationSteps = (schema: Schema): string[] => [
  `create record ${schema.name}`,
  ...schema.indexes.map((fields) => `add index ${fields.join(',')}`),
]

/** What has to be done and looked at to get from the schema in force to the next one. */
export function compareSchemas(current: Schema, next: Schema): Comparison {
  const lines: { text: string; onlyWithRows?: boolean }[] = []
  const changes: Change[] = []
  const checks: Check[] = []
  const notes: Notes = {
    step: (text) => lines.push({ text }),
    check: (check) => checks.push(check),
    change: (change) => changes.push(change),
    backfill: (field, value) => {
      changes.push({ op: 'backfill', field, value })
      lines.push({ text: `backfill ${field} = ${inWords(value)}`, onlyWithRows: true })
    },
  }
  for (const [name, field] of next.fields) {
    const before = current.fields.get(name)
    if (before) changeField(notes, name, before, field)
    else addField(notes, name, field)
  }
  for (const name of current.fields.keys())
    if (!next.fields.has(name)) dropField(notes, name, next.drop.includes(name))
  compareIndexes(notes, current, next)
  if (canonicalJson(hooksOf(current)) !== canonicalJson(hooksOf(next))) notes.step('change hooks')
  return {
    steps: (rows) => lines.filter(({ onlyWithRows }) => rows > 0 || !onlyWithRows).map(({ text }) => text),
    changes,
    checks,
  }
}

interface Notes {
  step(text: string): void
  check(check: Check): void
  change(change: Change): void
  backfill(field: string, value: unknown): void
}

function addField(notes: Notes, name: string, field: Field): void {
  notes.step(`add field ${name}`)
  if (field.default !== undefined) notes.backfill(name, field.default)
  else if (field.required)
    notes.check({
      field: name,
      fails: () => true,
      reason: (rows) => `${name} is new and required, has no default, and ${have(rows)} no value for it`,
    })
  if (field.unique) checkUnique(notes, name)
}

function dropField(notes: Notes, name: string, mayGo: boolean): void {
  notes.step(`drop field ${name}`)
  notes.change({ op: 'drop', field: name })
  if (!mayGo)
    notes.check({
      field: name,
      fails: (data) => valueIn(data, name) !== undefined,
      reason: (rows) => `${name} is dropped, and ${have(rows)} a value in it that \`drop\` does not give up`,
    })
}

function changeField(notes: Notes, name: string, before: Field, after: Field): void {
  const conversion = changeType(notes, name, before, after)
  const isNowRequired = after.required && !before.required
  const isBackfilled = isNowRequired && after.default !== undefined
  if (isNowRequired) {
    notes.step(`make ${name} required`)
    if (isBackfilled) notes.backfill(name, after.default)
    else
      notes.check({
        field: name,
        fails: (data) => valueIn(data, name) === undefined,
        reason: (rows) => `${name} becomes required, and ${have(rows)} no value in it`,
      })
  }
  if (before.required && !after.required) notes.step(`make ${name} optional`)
  if (canonicalJson(before.default ?? null) !== canonicalJson(after.default ?? null))
    notes.step(
      after.default === undefined
        ? `remove default of ${name}`
        : `set default of ${name} to ${inWords(after.default)}`,
    )
  if (after.unique && !before.unique) notes.step(`make ${name} unique`)
  if (before.unique && !after.unique) notes.step(`let values of ${name} repeat`)
  // Two values may be one after they were converted, and a default is one for all.
  if (after.unique && (!before.unique || conversion || isBackfilled)) checkUnique(notes, name)
  changeBounds(notes, name, { before, after, conversion })
  if (after.type === 'enum' && before.type === 'enum') changeValues(notes, name, before, after)
}

/** What becomes of the values, where they do not stay as they are. */
function changeType(notes: Notes, name: string, before: Field, after: Field): Change | undefined {
  if (before.type === 'ref' && after.type === 'ref' && before.record !== after.record) {
    notes.step(`let ${name} lead to record ${after.record}`)
    checkHeld(notes, name, `lead to ${before.record} and not to ${after.record}`)
  }
  if (before.type === after.type) return undefined
  notes.step(`change type of ${name} from ${before.type} to ${after.type}`)
  const isText = before.type === 'string' || before.type === 'text'
  const staysAsItIs =
    after.type === 'json' ||
    (before.type === 'integer' && after.type === 'number') ||
    (isText && (after.type === 'string' || after.type === 'text'))
  if (staysAsItIs) return undefined
  if (!isText || (after.type !== 'integer' && after.type !== 'number')) {
    checkHeld(notes, name, `are of type ${before.type} and not of type ${after.type}`)
    return undefined
  }
  const to = after.type
  notes.check({
    field: name,
    fails: (data) => {
      const value = valueIn(data, name)
      return typeof value === 'string' && parseNumber(value, to) === undefined
    },
    reason: (rows) => `${name} changes from ${before.type} to ${to}, and ${have(rows)} a value that is none`,
  })
  const conversion: Change = { op: 'convert', field: name, to }
  notes.change(conversion)
  return conversion
}

const checkHeld = (notes: Notes, name: string, are: string) =>
  notes.check({
    field: name,
    fails: (data) => valueIn(data, name) !== undefined,
    reason: (rows) => `${name} changes, and ${have(rows)} values that ${are}`,
  })

const checkUnique = (notes: Notes, name: string) =>
  notes.check({
    field: name,
    reason: (rows) => `${name} becomes unique, and ${have(rows)} a value that another row has, too`,
  })

const BOUNDS = ['min', 'max', 'maxLength'] as const

function changeBounds(
  notes: Notes,
  name: string,
  { before, after, conversion }: { before: Field; after: Field; conversion: Change | undefined },
): void {
  for (const bound of BOUNDS) {
    if (before[bound] === after[bound]) continue
    if (after[bound] !== undefined) notes.step(`set ${bound} of ${name} to ${after[bound]}`)
    else if (after.type === before.type) notes.step(`remove ${bound} of ${name}`)
  }
  const isTighter = BOUNDS.some((bound) => after[bound] !== undefined && after[bound] !== before[bound])
  if (!isTighter) return
  notes.check({
    field: name,
    fails: (data) => {
      const value = valueIn(conversion ? changed(data, [conversion]) : data, name)
      // A value of the wrong type is counted where the type is.
      return (
        value !== undefined && !typeProblem(after.type, value) && valueProblem(after, value) !== undefined
      )
    },
    reason: (rows) => `${name} has other bounds, and ${have(rows)} a value outside of them`,
  })
}

function changeValues(notes: Notes, name: string, before: Field, after: Field): void {
  for (const value of after.values ?? [])
    if (!before.values?.includes(value)) notes.step(`add value ${value} to ${name}`)
  for (const value of before.values ?? []) {
    if (after.values?.includes(value)) continue
    notes.step(`remove value ${value} of ${name}`)
    notes.check({
      field: name,
      fails: (data) => valueIn(data, name) === value,
      reason: (rows) => `${name} loses the value ${value}, and ${have(rows)} it`,
    })
  }
  const moves = ({ transitions }: Field) =>
    canonicalJson(transitions ? Object.fromEntries(transitions) : null)
  if (moves(before) !== moves(after)) notes.step(`change transitions of ${name}`)
}

function compareIndexes(notes: Notes, current: Schema, next: Schema): void {
  const before = current.indexes.map((fields) => fields.join(','))
  const after = next.indexes.map((fields) => fields.join(','))
  for (const index of after) if (!before.includes(index)) notes.step(`add index ${index}`)
  for (const index of before) if (!after.includes(index)) notes.step(`drop index ${index}`)
}

const hooksOf = ({ hooks }: Schema) => ({
  onCreate: hooks.onCreate ?? false,
  onTransition: hooks.onTransition ?? false,
})

const SHOWN_CHARACTERS = 200

function inWords(value: unknown): string {
  const json = JSON.stringify(value)
  return json.length > SHOWN_CHARACTERS ? `${json.slice(0, SHOWN_CHARACTERS)}…` : json
}

const have = (rows: number): string => (rows === 1 ? '1 row has' : `${rows} rows have`)
