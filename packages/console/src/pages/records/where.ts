import { COLUMNS, type Field, type FieldType } from './schema.ts'
import { asMoment } from './values.ts'

export type Where = Record<string, unknown>

export const OPERATORS = {
  eq: 'is',
  ne: 'is not',
  gt: 'above',
  gte: 'at least',
  lt: 'below',
  lte: 'at most',
  in: 'is one of',
  contains: 'contains',
  startsWith: 'begins with',
  exists: 'has a value',
} as const
export type Operator = keyof typeof OPERATORS

/** One chip: a condition on a field, or a group of conditions that only the address can say. */
export type Condition =
  | { field: string; operator: Operator; value: unknown }
  | { group: 'and' | 'or' | 'not'; of: unknown }

export function operatorsFor(type: FieldType): Operator[] {
  const compared: Operator[] = ['eq', 'ne', 'in', 'exists']
  const ordered: Operator[] = ['gt', 'gte', 'lt', 'lte']
  if (type === 'json') return ['contains', 'exists']
  if (type === 'string' || type === 'text') return ['contains', 'startsWith', ...compared, ...ordered]
  return ['integer', 'number', 'timestamp'].includes(type) ? [...compared, ...ordered] : compared
}

const isObject = (value: unknown): value is Where =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The chips of a filter. */
export function conditionsOf(where: Where): Condition[] {
  return Object.entries(where).flatMap(([key, value]): Condition[] => {
    if (key === 'or' || key === 'not') return [{ group: key, of: value }]
    // All of them hold anyway.
    if (key === 'and')
      return Array.isArray(value) && value.every(isObject)
        ? value.flatMap(conditionsOf)
        : [{ group: key, of: value }]
    if (!isObject(value)) return [{ field: key, operator: 'eq', value }]
    return Object.entries(value).map(([operator, operand]) => ({
      field: key,
      operator: operator as Operator,
      value: operand,
    }))
  })
}

/** The filter that some chips say. What stands there already goes into `and`. */
export function whereOf(conditions: readonly Condition[]): Where | undefined {
  const where: Where = {}
  const more: Where[] = []
  for (const condition of conditions) {
    const said = saidBy(condition)
    const [[key, value] = ['', undefined]] = Object.entries(said)
    const there = where[key]
    if (there === undefined) where[key] = value
    else if (isObject(there) && isObject(value) && Object.keys(value).every((word) => !(word in there)))
      where[key] = { ...there, ...value }
    else more.push(said)
  }
  if (more.length > 0) where.and = [...(Array.isArray(where.and) ? where.and : []), ...more]
  return Object.keys(where).length > 0 ? where : undefined
}

function saidBy(condition: Condition): Where {
  if ('group' in condition) return { [condition.group]: condition.of }
  const { field, operator, value } = condition
  return { [field]: operator === 'eq' ? value : { [operator]: value } }
}

/** A condition as people say it. */
export function inWords(condition: Condition, fields: readonly Field[]): string {
  if ('group' in condition) return groupInWords(condition, fields)
  const { field, operator, value } = condition
  const type = [...fields, ...COLUMNS].find(({ name }) => name === field)?.type
  if (operator === 'exists') return `${field} ${value === false ? 'has no value' : 'has a value'}`
  if (value === null) return `${field} ${operator === 'ne' ? 'has a value' : 'has no value'}`
  const shown = Array.isArray(value)
    ? value.map((one) => valueInWords(one, type)).join(', ')
    : valueInWords(value, type)
  return `${field} ${OPERATORS[operator] ?? operator} ${shown}`
}

function groupInWords({ group, of }: { group: string; of: unknown }, fields: readonly Field[]): string {
  const inner = (one: unknown): string =>
    isObject(one)
      ? conditionsOf(one)
          .map((part) => inWords(part, fields))
          .join(' and ')
      : JSON.stringify(one)
  if (group === 'not') return `not (${inner(of)})`
  return Array.isArray(of) ? of.map((one) => `(${inner(one)})`).join(` ${group} `) : `${group} …`
}

function valueInWords(value: unknown, type: FieldType | undefined): string {
  if (type === 'timestamp' && typeof value === 'number') return asMoment(value)
  return typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
}
