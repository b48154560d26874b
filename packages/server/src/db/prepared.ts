import { setImmediate } from 'node:timers/promises'
import type { Compilable, CompiledQuery, Insertable, InsertQueryBuilder, InsertResult, Kysely } from 'kysely'
import { createRecent } from '../platform/recent.ts'

/** Stands in a query for a value that comes later, and knows where to find it then. */
class Slot<Values> {
  readonly read: (values: Values) => unknown

  constructor(read: (values: Values) => unknown) {
    this.read = read
  }
}

/** Runs a statement at once, where a database need not be waited for. */
export interface Direct {
  readOnly: boolean
  run(sql: string, parameters: readonly unknown[]): Outcome<unknown>
  /** Grows with every change of these tables that can be read; missing where that is not known. */
  changesOf?(tables: readonly string[]): number
}

interface Outcome<Row> {
  rows: Row[]
  /** How many rows a statement changed that returns none. */
  changes?: number
}

const directs = new WeakMap<object, Direct>()

/** Has the prepared queries on this database or transaction run directly: the way through Kysely takes longer. */
export const runDirectly = (on: object, direct: Direct): void => {
  directs.set(on, direct)
}

/**
 * A query that is built and compiled once, for paths every request takes: building it anew costs more than running it.
 * What differs from call to call is taken from `values` by name, and must always be a plain value.
 */
export function prepared<Schema, Values extends object, Row>(
  build: (db: Kysely<Schema>, values: Values) => Compilable<Row>,
): (db: Kysely<Schema>, values: Values) => Promise<Row[]> {
  const run = compileOnce((db: Kysely<Schema>) => build(db, slotsByName()))
  return async (db, values) => (await run(db, values)).rows
}

/** Of one query on one database. */
const ANSWERS_KEPT = 4096

/**
 * A prepared query whose answers are kept until one of these tables changes, where the database can tell: for what every
 * request asks and hardly any changes. They must name every table the query reads, and nobody may change an answer.
 */
export function remembered<Schema, Values extends Record<string, string>, Row>(
  tables: readonly (keyof Schema & string)[],
  build: (db: Kysely<Schema>, values: Values) => Compilable<Row>,
): (db: Kysely<Schema>, values: Values) => Promise<readonly Row[]> {
  const run = prepared(build)
  type Answers = ReturnType<typeof createRecent<string, { rows: readonly Row[]; changes: number }>>
  const answersOf = new WeakMap<Direct, Answers>()

  return async (db, values) => {
    const direct = directs.get(db)
    const changes = direct?.changesOf?.(tables)
    if (!direct || changes === undefined) return run(db, values)
    let answers = answersOf.get(direct)
    if (!answers) {
      answers = createRecent({ maxEntries: ANSWERS_KEPT })
      answersOf.set(direct, answers)
    }
    const key = keyOf(values)
    const kept = answers.get(key)
    if (kept?.changes === changes) return kept.rows
    const rows = await run(db, values)
    // What is not there may be asked for by anybody, under any name.
    if (rows.length > 0) answers.set(key, { rows, changes })
    return rows
  }
}

/** Told apart by their lengths, whatever is in them. */
function keyOf(values: Record<string, string>): string {
  let key = ''
  for (const name in values) {
    const text = values[name] as string
    key += `${text.length}:${text}`
  }
  return key
}

/** A change of which only the number of rows is asked: to have SQLite return something takes it twice as long. */
export function preparedChange<Schema, Values extends object>(
  build: (db: Kysely<Schema>, values: Values) => Compilable,
): (db: Kysely<Schema>, values: Values) => Promise<number> {
  const run = compileOnce((db: Kysely<Schema>) => build(db, slotsByName()))
  return async (db, values) => (await run(db, values)).changes ?? 0
}

const slotsByName = <Values extends object>(): Values =>
  new Proxy({} as Values, {
    get: (_values, name) => new Slot<Values>((values) => values[name as keyof Values]),
  })

/** Inserts are cut into these sizes, so that there is a statement of each. */
const BATCHES = [64, 32, 16, 8, 4, 2, 1]

/**
 * Inserts any number of rows that all have the columns of the first, with statements that are built once, and gives what
 * `complete` has them return. Between the largest of them others get their turn: SQLite answers at once, and would leave
 * them none.
 */
export function preparedInsert<Schema, Table extends keyof Schema & string, Returned = InsertResult>(
  table: Table,
  complete?: (insert: InsertQueryBuilder<Schema, Table, InsertResult>) => Compilable<Returned>,
): (db: Kysely<Schema>, rows: readonly Insertable<Schema[Table]>[]) => Promise<Returned[]> {
  type Row = Insertable<Schema[Table]>
  type Column = keyof Row & string
  type Insert = (db: Kysely<Schema>, rows: readonly Row[]) => Promise<Returned[]>
  // Rows of the next caller may leave out what has a default, or give it: few ways, told apart by looking at them.
  const shapes: { columns: readonly Column[]; bySize: Map<number, Insert> }[] = []

  function shapeOf(row: Row) {
    const columns = Object.keys(row) as Column[]
    const known = shapes.find((shape) => isSame(shape.columns, columns))
    if (known) return known
    const fresh = { columns, bySize: new Map<number, Insert>() }
    shapes.push(fresh)
    return fresh
  }

  function compile(size: number, columns: readonly Column[]): Insert {
    const slots = Array.from({ length: size }, (_, i) =>
      Object.fromEntries(columns.map((column) => [column, new Slot<Row[]>((rows) => rows[i]?.[column])])),
    ) as Row[]
    const run = compileOnce((db: Kysely<Schema>) => {
      const insert = db.insertInto(table).values(slots)
      return complete ? complete(insert) : (insert as Compilable<unknown> as Compilable<Returned>)
    })
    return async (db, rows) => (await run(db, rows)).rows
  }

  return async (db, rows) => {
    const [first] = rows
    if (!first) return []
    const returned: Returned[] = []
    const { columns, bySize } = shapeOf(first)
    let done = 0
    for (const size of BATCHES)
      for (; rows.length - done >= size; done += size) {
        const insert = bySize.get(size) ?? compile(size, columns)
        bySize.set(size, insert)
        returned.push(...(await insert(db, size === rows.length ? rows : rows.slice(done, done + size))))
        if (size === BATCHES[0]) await setImmediate()
      }
    return returned
  }
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one, i) => one === others[i])

function compileOnce<Schema, Values, Row>(
  build: (db: Kysely<Schema>) => Compilable<Row>,
): (db: Kysely<Schema>, values: Values) => Promise<Outcome<Row>> | Outcome<Row> {
  // One for each dialect; a transaction shares its adapter with the database it is on.
  const compiled = new WeakMap<object, CompiledQuery<Row>>()

  return (db, values) => {
    const { adapter } = db.getExecutor()
    let query = compiled.get(adapter)
    if (!query) {
      query = build(db).compile()
      compiled.set(adapter, query)
    }
    const parameters = query.parameters.map((value) => (value instanceof Slot ? value.read(values) : value))
    const direct = directs.get(db)
    if (direct && (!direct.readOnly || query.query.kind === 'SelectQueryNode'))
      return direct.run(query.sql, parameters) as Outcome<Row>
    return throughKysely(db, { ...query, parameters })
  }
}

async function throughKysely<Schema, Row>(
  db: Kysely<Schema>,
  query: CompiledQuery<Row>,
): Promise<Outcome<Row>> {
  const { rows, numAffectedRows } = await db.executeQuery(query)
  return numAffectedRows === undefined ? { rows } : { rows, changes: Number(numAffectedRows) }
}
