import type { RecordRow } from '@trellis/contract'
import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Form, FormActions } from '../../ui/Field.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Conflict.module.css'
import type { Conflict, Data } from './saving.ts'
import type { Field } from './schema.ts'
import { Value } from './Value.tsx'
import { isSame } from './values.ts'

interface ConflictDialogProps {
  conflict: Conflict
  fields: readonly Field[]
  action: { busy: boolean; error: Error | null }
  /** Writes what was chosen of mine, over the revision that is there now. */
  onSave: (row: RecordRow, data: Data) => void
  onTakeTheirs: (row: RecordRow) => void
  onClose: () => void
}

/** Mine and theirs side by side, for each field that both have changed. */
export function ConflictDialog({
  conflict: { base, mine, theirs },
  fields,
  action,
  onSave,
  onTakeTheirs,
  onClose,
}: ConflictDialogProps) {
  const differing = fields.filter(({ name }) => name in mine && !isSame(mine[name], theirs.data[name]))
  const others = fields.filter(({ name }) => !(name in mine) && !isSame(base.data[name], theirs.data[name]))
  const [given, setGiven] = useState<ReadonlySet<string>>(new Set())
  const kept = Object.fromEntries(
    differing.flatMap(({ name }) => (given.has(name) ? [] : [[name, mine[name]]])),
  )
  const give = (name: string, isGiven: boolean) =>
    setGiven((names) => new Set(isGiven ? [...names, name] : [...names].filter((one) => one !== name)))

  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Somebody changed this row meanwhile"
      about={
        <>
          You saw revision {base.revision}; since <TimeAgo at={theirs.updatedAt} /> it is revision{' '}
          {theirs.revision}. Nothing of yours is written yet. Choose what is to hold.
        </>
      }
    >
      <Form
        onSubmit={() => (Object.keys(kept).length > 0 ? onSave(theirs, kept) : onTakeTheirs(theirs))}
        style={{ maxWidth: 'none' }}
      >
        <table className={styles.conflict}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">You saw</th>
              <th scope="col">Mine</th>
              <th scope="col">Theirs</th>
            </tr>
          </thead>
          <tbody>
            {differing.map((field) => (
              <tr key={field.name}>
                <th scope="row">{field.name}</th>
                <td>
                  <Value field={field} value={base.data[field.name]} />
                </td>
                <td>
                  <Side field={field} whose="mine" value={mine[field.name]} given={given} onGive={give} />
                </td>
                <td>
                  <Side
                    field={field}
                    whose="theirs"
                    value={theirs.data[field.name]}
                    given={given}
                    onGive={give}
                  />
                </td>
              </tr>
            ))}
            {others.map((field) => (
              <tr key={field.name}>
                <th scope="row">{field.name}</th>
                <td>
                  <Value field={field} value={base.data[field.name]} />
                </td>
                <td className={styles.quiet}>not touched</td>
                <td>
                  <Value field={field} value={theirs.data[field.name]} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {differing.length === 0 && <p>What you wrote is there already.</p>}
        <ActionProblem of={action} />
        <FormActions>
          <Button kind="first" type="submit" busy={action.busy}>
            {Object.keys(kept).length > 0 ? 'Save what is chosen' : 'Keep theirs'}
          </Button>
          {Object.keys(kept).length > 0 && <Button onClick={() => onTakeTheirs(theirs)}>Keep theirs</Button>}
          <Button kind="quiet" onClick={onClose}>
            Back to editing
          </Button>
        </FormActions>
      </Form>
    </Dialog>
  )
}

interface SideProps {
  field: Field
  whose: 'mine' | 'theirs'
  value: unknown
  given: ReadonlySet<string>
  onGive: (name: string, isGiven: boolean) => void
}

const Side = ({ field, whose, value, given, onGive }: SideProps) => (
  <label className={styles.side}>
    <input
      type="radio"
      name={field.name}
      checked={given.has(field.name) === (whose === 'theirs')}
      onChange={() => onGive(field.name, whose === 'theirs')}
      aria-label={`${field.name}: ${whose}`}
    />
    <Value field={field} value={value} />
  </label>
)
