import * as z from 'zod'
import { JsonObject, RecordName, RepoName, StringList, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Cursor, NextCursor, pageLimit } from './paging.ts'

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

export const records = {
  list: operation('/records/list', {
    summary: 'List the rows of a record collection',
    tag: 'Records',
    needs: 'repo:read',
    errors: [
      'REPO_NOT_FOUND',
      'FEATURE_UNAVAILABLE',
      'RECORD_SCHEMA_NOT_FOUND',
      'RECORD_NOT_FOUND',
      'RECORD_REVISION_CONFLICT',
      'RECORD_SCHEMA_INVALID',
      ...unready,
    ],
  })
    .input(
      z.object({
        name: RepoName,
        record: RecordName,
        where: JsonObject.optional().meta({
          description: 'Conditions that rows must meet; all rows when left out.',
          examples: [{ status: 'open', priority: { gte: 3 } }],
        }),
        limit: pageLimit(1000, 100),
        cursor: Cursor.optional(),
      }),
    )
    .output(z.object({ rows: z.array(RecordRow), cursor: NextCursor, schema: RecordSchema })),
}
