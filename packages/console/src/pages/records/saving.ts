import type { RecordRow } from '@trellis/contract'
import { useState } from 'react'
import { trellis } from '../../api/client.ts'
import { ApiError, isApiError } from '../../api/errors.ts'
import { useAction } from '../../api/queries.ts'
import { keepRow, type RowsAsked } from './queries.ts'

export type Data = Record<string, unknown>

/** Somebody was faster: what was seen, what is wanted, and what is there now. */
export interface Conflict {
  base: RecordRow
  mine: Data
  theirs: RecordRow
}

/**
 * Saves fields of a row with the revision that was seen. Where another is there by now nothing is written: `conflict` has
 * both, for somebody to choose from.
 */
export function useSaveRow(
  org: string,
  place: Pick<RowsAsked, 'name' | 'record'>,
  onSaved: (row: RecordRow) => void,
) {
  const api = trellis(org)
  const [conflict, setConflict] = useState<Conflict>()
  const save = useAction(
    async ({ row, data }: { row: RecordRow; data: Data }) => {
      const { id, revision } = row
      try {
        return await api.records.update({ ...place, id, revision, data })
      } catch (error) {
        if (!isApiError(error, 'RECORD_REVISION_CONFLICT')) throw error
        const theirs = await api.records.get({ ...place, id })
        keepRow(org, place, id, theirs)
        setConflict({ base: row, mine: data, theirs })
        return undefined
      }
    },
    {
      onDone: (row) => {
        if (!row) return
        setConflict(undefined)
        keepRow(org, place, row.id, row)
        onSaved(row)
      },
    },
  )
  return { save, conflict, dismiss: () => setConflict(undefined) }
}

/** What the server has against fields, by their names. */
export function issuesIn(error: Error | null): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  const { issues = [] } = error.data as { issues?: { path?: (string | number)[]; message: string }[] }
  return Object.fromEntries(
    issues.flatMap(({ path = [], message }) =>
      path[0] === 'data' && typeof path[1] === 'string' ? [[path[1], message]] : [],
    ),
  )
}
