import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ErrorData } from '@trellis/contract'
import type * as z from 'zod'
import { Fault } from '../platform/fault.ts'
import { allOperations, parseInputOf } from './implement.ts'

type Path = (string | number)[]

interface Field {
  path: Path
  /** The least input in which the field stands, as null. */
  input: unknown
}

type Shape = Record<string, z.core.$ZodType>

/** What is inside of something that may be left out, be null, or have a default. */
function inside(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod as { def: { innerType?: z.core.$ZodType } }
  return def.innerType ? inside(def.innerType) : schema
}

const mayBeLeftOut = (schema: z.core.$ZodType): boolean => (schema as z.ZodType).safeParse(undefined).success

/** Every field of a schema that may be left out, however deep. */
function* optionalFields(schema: z.core.$ZodType): Generator<Field> {
  const { def } = inside(schema)._zod as unknown as {
    def: { type: string; shape?: Shape; element?: z.core.$ZodType; options?: z.core.$ZodType[] }
  }
  if (def.type === 'object') {
    const shape = def.shape ?? {}
    // Where there are several kinds of objects, this says which.
    const kind = Object.fromEntries(
      Object.entries(shape).flatMap(([key, field]) => {
        const { values } = field._zod
        return values?.size === 1 ? [[key, [...values][0]]] : []
      }),
    )
    for (const [key, field] of Object.entries(shape)) {
      if (mayBeLeftOut(field)) yield { path: [key], input: { ...kind, [key]: null } }
      for (const { path, input } of optionalFields(field))
        yield { path: [key, ...path], input: { ...kind, [key]: input } }
    }
  } else if (def.type === 'array' && def.element) {
    for (const { path, input } of optionalFields(def.element)) yield { path: [0, ...path], input: [input] }
  } else if (def.type === 'union') for (const option of def.options ?? []) yield* optionalFields(option)
}

function issuesOf(work: () => unknown): NonNullable<ErrorData<'BAD_REQUEST'>['issues']> {
  try {
    work()
    return []
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return (error.data as ErrorData<'BAD_REQUEST'>).issues ?? []
  }
}

describe('null in a field that may be left out', () => {
  it('is no problem at any field of any operation', () => {
    const looked: string[] = []
    for (const { path: operation, procedure } of allOperations()) {
      const { inputSchema } = procedure['~orpc']
      if (!inputSchema) continue
      for (const { path, input } of optionalFields(inputSchema as unknown as z.core.$ZodType)) {
        const name = `${operation} ${path.join('.')}`
        looked.push(name)
        const problems = issuesOf(() => parseInputOf(procedure, structuredClone(input))).filter(
          (issue) => JSON.stringify(issue.path) === JSON.stringify(path),
        )
        assert.deepEqual(problems, [], name)
      }
    }
    for (const name of ['/repos/list cursor', '/git/tags/create tagger.timestamp', '/records/list where'])
      assert.ok(looked.includes(name), name)
    assert.ok(looked.length > 100, String(looked.length))
  })
})
