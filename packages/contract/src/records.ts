import * as z from 'zod'
import type { ErrorCode } from './errors.ts'
import { Counter, Id, JsonObject, RecordName, RepoName, StringList, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Cursor, listOf, NextCursor, pageLimit } from './paging.ts'

export const RecordRow = z.object({
  id: z.string(),
  revision: z.int().describe('Grows by one with every change.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  data: JsonObject.meta({
    description: 'The fields, as the schema in force has them.',
    examples: [{ title: 'Write the docs', status: 'open' }],
  }),
})
export type RecordRow = z.infer<typeof RecordRow>

export const RecordSchema = z.object({
  name: RecordName,
  fields: JsonObject.meta({
    description: 'By name: the type and what it asks for.',
    examples: [{ title: { type: 'string', required: true }, priority: { type: 'integer', min: 1 } }],
  }),
  indexes: StringList.optional().meta({
    description: 'Fields to look rows up by; `a,b` for two together.',
    examples: [['status', 'status,priority']],
  }),
  hooks: z
    .object({ onCreate: z.boolean().optional(), onTransition: z.boolean().optional() })
    .default({})
    .describe('What starts a run of the extension that declares the record.'),
})
export type RecordSchema = z.infer<typeof RecordSchema>

export const RecordCollection = z.object({
  schema: RecordSchema,
  rows: Counter.describe('How many there are.'),
  bytes: Counter.describe('What they take, with their entries in indexes.'),
})
export type RecordCollection = z.infer<typeof RecordCollection>

/** An object with the keys it came with: `__proto__` too, which a record of zod would leave out without a word. */
const OpenObject = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'Must be an object',
  )
  .meta({ type: 'object' })

export const RowConditions = OpenObject.meta({
  type: 'object',
  description: 'Conditions that rows must meet; all rows when left out.',
  examples: [{ status: 'open', priority: { gte: 3 } }],
})

const tag = 'Records'

const ofRow = z.object({ name: RepoName, record: RecordName, id: Id.meta({ examples: ['rec_01k…'] }) })

const Revision = z.int().describe('The one that was read. Another means that somebody was faster.')

export const everyRecord = [
  'REPO_NOT_FOUND',
  'FEATURE_UNAVAILABLE',
  'RECORD_SCHEMA_NOT_FOUND',
  'RECORD_SCHEMA_INVALID',
] as const satisfies ErrorCode[]

export const records = {
  collections: operation('/records/collections', {
    summary: 'List the records in force, and how many rows there are of each',
    tag,
    needs: 'repo:read',
    errors: ['REPO_NOT_FOUND', 'FEATURE_UNAVAILABLE'],
  })
    .input(z.object({ name: RepoName }))
    .output(listOf(RecordCollection)),
  list: operation('/records/list', {
    summary: 'List the rows of a record collection',
    tag,
    needs: 'repo:read',
    errors: [...everyRecord, 'RECORD_NOT_FOUND', 'RECORD_REVISION_CONFLICT', ...unready],
  })
    .input(
      z.object({
        name: RepoName,
        record: RecordName,
        where: RowConditions.optional(),
        sort: z
          .string()
          .max(300)
          .optional()
          .meta({
            description:
              'An index, by its fields: rows come in its order, those without a value first. With a minus before it the other way round. In the order they were made when left out.',
            examples: ['status,priority', '-priority'],
          }),
        limit: pageLimit(1000, 100),
        cursor: Cursor.optional(),
      }),
    )
    .output(z.object({ rows: z.array(RecordRow), cursor: NextCursor, schema: RecordSchema })),
  get: operation('/records/get', {
    summary: 'Read a row',
    tag,
    needs: 'repo:read',
    errors: [...everyRecord, 'RECORD_NOT_FOUND'],
  })
    .input(ofRow)
    .output(RecordRow),
  create: operation('/records/create', {
    summary: 'Add a row to a record collection',
    tag,
    needs: 'repo:write',
    errors: [...everyRecord, 'QUOTA_EXCEEDED'],
  })
    .input(
      z.object({
        name: RepoName,
        record: RecordName,
        data: OpenObject.meta({
          type: 'object',
          description: 'The fields. One that is left out, or null, gets its default.',
          examples: [{ title: 'Write the docs' }],
        }),
      }),
    )
    .output(RecordRow),
  update: operation('/records/update', {
    summary: 'Change fields of a row',
    tag,
    needs: 'repo:write',
    errors: [...everyRecord, 'RECORD_NOT_FOUND', 'RECORD_REVISION_CONFLICT', 'QUOTA_EXCEEDED'],
  })
    .input(
      ofRow.extend({
        revision: Revision,
        data: OpenObject.meta({
          type: 'object',
          description: 'The fields that change. Null takes an optional one away.',
          examples: [{ status: 'done', due: null }],
        }),
      }),
    )
    .output(RecordRow),
  delete: operation('/records/delete', {
    summary: 'Remove a row',
    tag,
    needs: 'repo:write',
    errors: [...everyRecord, 'RECORD_NOT_FOUND', 'RECORD_REVISION_CONFLICT'],
  })
    .input(ofRow.extend({ revision: Revision }))
    .output(z.object({ deleted: z.literal(true) })),
}
