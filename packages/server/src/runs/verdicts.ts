import type { PlaceOwner } from '../platform/places.ts'
import type { SchemaChecks, SchemaQuestion } from './schema-checks.ts'

/** What is wrong with an input, or undefined. Called in a transaction. */
export type Judge = (question: SchemaQuestion) => string | undefined

/** The input may be another one each time. Then it is held against the schema when the run begins. */
const ATTEMPTS = 3

/**
 * For a transaction in which an input comes to be that has to fit a schema. Nothing is checked while it is open: it is
 * left when something has to be, and begun anew when that is known.
 */
export const createVerdicts =
  ({ checks }: { checks: SchemaChecks }) =>
  async <T>(owner: PlaceOwner, work: (judge: Judge) => Promise<T>): Promise<T> => {
    const known = new Map<string, string | undefined>()
    for (let attempt = 1; ; attempt++)
      try {
        return await work((question) => {
          const key = keyOf(question)
          if (!known.has(key) && attempt <= ATTEMPTS) throw new Unchecked(question)
          return known.get(key)
        })
      } catch (error) {
        if (!(error instanceof Unchecked)) throw error
        known.set(keyOf(error.question), await checks.check(owner, error.question))
      }
  }

const keyOf = ({ schema, value }: SchemaQuestion): string => `${schema.length} ${schema} ${value}`

class Unchecked extends Error {
  readonly question: SchemaQuestion
  constructor(question: SchemaQuestion) {
    super('It has to be held against its schema first')
    this.question = question
  }
}
