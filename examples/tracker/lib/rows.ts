// What is kept, as the descriptors declare it.

import type { Json, RecordRow, RecordsReader } from '@trellis/extension'

export interface Task {
  title: string
  body?: string
  status: 'open' | 'doing' | 'blocked' | 'done' | 'dropped'
  priority: number
  area?: string
  assignee?: string
  due?: number
  /** The due date that people were reminded of. */
  remindedOf?: number
  /** The id of the release it was in. */
  release?: string
}

export interface Release {
  version: string
  status: 'draft' | 'approved' | 'published' | 'abandoned'
  commit: string
  notes?: string
  publishedAt?: number
}

export interface Problem {
  file: string
  message: string
}

export interface Check {
  commit: string
  ref: string
  outcome: 'passed' | 'failed'
  problems: Problem[]
}

/** All rows that are found, page by page. */
export async function* allRows<Data>(
  records: RecordsReader,
  record: string,
  where: { [field: string]: Json },
): AsyncGenerator<RecordRow<Data>> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: { rows: RecordRow<Data>[]; cursor: string | null } = await records.list(record, {
      where,
      ...(cursor !== undefined && { cursor }),
    })
    yield* page.rows
    cursor = page.cursor
  }
}
