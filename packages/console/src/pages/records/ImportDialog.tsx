import type { RecordSchema } from '@trellis/contract'
import { useState } from 'react'
import { useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { counted } from '../../ui/counted.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field, Form, FormActions, Input } from '../../ui/Field.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { toast } from '../../ui/Toast.tsx'
import { useStopped } from './ExportDialog.tsx'
import styles from './Transfers.module.css'
import { checkFile, importRows, type LineProblem, lineProblemsIn } from './transfers.ts'

interface ImportDialogProps {
  schema: RecordSchema
  /** It may have added rows, also where it stopped half-way. */
  onClose: () => void
}

/** Rows from a file of lines. It is gone through before anything is sent, and what is wrong is said line by line. */
export function ImportDialog({ schema, onClose }: ImportDialogProps) {
  const { org, name } = useRepo()
  const [share, setShare] = useState(0)
  const left = useStopped()
  const check = useAction((file: File) =>
    checkFile(file, schema, { signal: left.signal, onBytes: (bytes) => setShare(bytes / file.size) }),
  )
  const [file, setFile] = useState<File>()
  const send = useAction(
    (file: File) =>
      importRows(org, { name, record: schema.name }, file, { signal: left.signal, onSent: setShare }),
    {
      onDone: (imported) => {
        toast(`${counted(imported, 'row')} imported`)
        onClose()
      },
    },
  )
  const found = check.result
  const refused = lineProblemsIn(send.error)
  const choose = (chosen: File | undefined) => {
    setFile(chosen)
    send.forget()
    check.forget()
    if (chosen) check.run(chosen)
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Import rows into ${schema.name}`}
      about="A file with a line of JSON for each row, as an export has them. Only “data” counts: every line becomes a new row with an id of its own."
    >
      <Form onSubmit={() => file && send.run(file)}>
        <Field label="File">
          {(control) => (
            <Input
              {...control}
              type="file"
              accept=".ndjson,.jsonl,.json,application/x-ndjson"
              onChange={(event) => choose(event.target.files?.[0])}
            />
          )}
        </Field>
        {(check.busy || send.busy) && (
          <label className={styles.progress}>
            {check.busy ? 'Looking through the file' : share < 1 ? 'Sending' : 'Adding rows'}
            <progress max={1} value={send.busy && share >= 1 ? undefined : share} />
          </label>
        )}
        {found && !send.busy && !send.error && (
          <p role="status">
            {counted(found.rows, 'row')}
            {found.wrong > 0
              ? `, and ${found.wrong} ${found.wrong === 1 ? 'line' : 'lines'} that cannot become one. Nothing has been sent.`
              : ' to import.'}
          </p>
        )}
        <Lines problems={found?.problems ?? []} />
        {refused.problems.length > 0 ? (
          <>
            <p role="alert">
              It stopped at a line that is wrong{refused.notes.length > 0 && `: ${refused.notes.join(', ')}`}.
              What was added stays, so take those lines out before you import the file again.
            </p>
            <Lines problems={refused.problems} />
          </>
        ) : (
          <ActionProblem of={send} />
        )}
        <ActionProblem of={check} />
        <FormActions>
          <Button
            kind="first"
            type="submit"
            busy={send.busy}
            disabled={!found || found.wrong > 0 || found.rows === 0}
          >
            Import
          </Button>
          <Button kind="quiet" onClick={onClose}>
            {send.busy ? 'Stop' : 'Close'}
          </Button>
        </FormActions>
      </Form>
    </Dialog>
  )
}

const Lines = ({ problems }: { problems: readonly LineProblem[] }) =>
  problems.length > 0 ? (
    <ul className={styles.lines} aria-label="Lines that are wrong">
      {problems.map(({ line, message }) => (
        <li key={`${line} ${message}`}>
          <span className={styles.line}>Line {line}</span> {message}
        </li>
      ))}
    </ul>
  ) : null
