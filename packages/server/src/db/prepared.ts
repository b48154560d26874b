import type { Compilable, CompiledQuery, Kysely } from 'kysely'

/** Stands in a query for a value that comes later. */
class Slot {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Runs a statement at once, where a database need not be waited for. */
export interface Direct {
  readOnly: boolean
  run(sql: string, parameters: readonly unknown[]): unknown[]
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
  // One for each dialect; a transaction shares its adapter with the database it is on.
  const compiled = new WeakMap<object, CompiledQuery<Row>>()
  const slots = new Proxy({} as Values, { get: (_values, name) => new Slot(String(name)) })

  return async (db, values) => {
    const { adapter } = db.getExecutor()
    let query = compiled.get(adapter)
    if (!query) {
      query = build(db, slots).compile()
      compiled.set(adapter, query)
    }
    const parameters = query.parameters.map((value) =>
      value instanceof Slot ? values[value.name as keyof Values] : value,
    )
    const direct = directs.get(db)
    if (direct && (!direct.readOnly || query.query.kind === 'SelectQueryNode'))
      return direct.run(query.sql, parameters) as Row[]
    const { rows } = await db.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}
