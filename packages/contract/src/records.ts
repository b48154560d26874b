import * as z from 'zod'
import { JsonObject, RecordName, RepoName, StringList, Timestamp } from './names.ts'
import { operation, unready } from './operation.ts'
import { Cursor, pageLimit } from './paging.ts'

export const RecordRow = z.object({
  id: z.string(),
  revision: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  data: JsonObject,
})
export type RecordRow = z.infer<typeof RecordRow>

export const RecordSchema = z.object({
  name: RecordName,
  fields: JsonObject,
  indexes: StringList.optional(),
  hooks: z.object({ onCreate: z.boolean().optional(), onTransition: z.boolean().optional() }).default({}),
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
        where: JsonObject.optional(),
        limit: pageLimit(1000, 100),
        cursor: Cursor.optional(),
      }),
    )
    .output(z.object({ rows: z.array(RecordRow), cursor: z.string().nullable(), schema: RecordSchema })),
}
