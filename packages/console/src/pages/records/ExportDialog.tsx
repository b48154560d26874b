import { useEffect, useRef, useState } from 'react'
import { useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Bytes } from '../../ui/Bytes.tsx'
import { counted } from '../../ui/counted.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { FormActions } from '../../ui/Field.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import type { RowsAsked } from './queries.ts'
import { exportRows, save } from './transfers.ts'

/** Rows as a file of lines, with how many have come so far. */
export function ExportDialog({ asked, onClose }: { asked: RowsAsked; onClose: () => void }) {
  const { org } = useRepo()
  const [done, setDone] = useState({ rows: 0, bytes: 0 })
  const left = useStopped()
  const run = useAction(async () => {
    const file = await exportRows(org, asked, {
      signal: left.signal,
      onRows: (rows, bytes) => setDone({ rows, bytes }),
    })
    save(file, `${asked.record}.ndjson`)
  })
  const isDone = run.result !== undefined || (!run.busy && done.rows > 0 && !run.error)
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Export ${asked.record}`}
      about={
        asked.where
          ? 'All rows that meet the filters, in the order they were made: a line of JSON for each.'
          : 'All rows, in the order they were made: a line of JSON for each. They can be imported again.'
      }
    >
      <p role="status">
        {(run.busy || isDone) && (
          <>
            {counted(done.rows, 'row')}, <Bytes of={done.bytes} />
            {isDone ? ': saved.' : ' so far…'}
          </>
        )}
      </p>
      <ActionProblem of={run} />
      <FormActions>
        <Button kind="first" busy={run.busy} onClick={() => run.run(undefined)}>
          {isDone ? 'Export again' : 'Export'}
        </Button>
        <Button kind="quiet" onClick={onClose}>
          {run.busy ? 'Stop' : 'Close'}
        </Button>
      </FormActions>
    </Dialog>
  )
}

/** Aborted when what uses it goes. */
export function useStopped(): AbortController {
  const held = useRef<AbortController>(undefined)
  if (!held.current || held.current.signal.aborted) held.current = new AbortController()
  const controller = held.current
  useEffect(() => () => controller.abort(), [controller])
  return controller
}
