import type { RecordRow, RecordSchema } from '@trellis/contract'
import { type KeyboardEvent, useState } from 'react'
import { adviceOn, titleOf } from '../../api/errors.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { ConflictDialog } from './ConflictDialog.tsx'
import { FieldInput } from './FieldInput.tsx'
import styles from './Grid.module.css'
import { issuesIn, useSaveRow } from './saving.ts'
import { type Field, fieldsOf } from './schema.ts'
import { isSame, read, typed } from './values.ts'

interface CellEditorProps {
  field: Field
  row: RecordRow
  schema: RecordSchema
  onDone: () => void
}

/** In the place of a cell: Enter saves, Escape leaves it as it was. */
export function CellEditor({ field, row, schema, onDone }: CellEditorProps) {
  const { org, name } = useRepo()
  const [text, setText] = useState(typed(field, row.data[field.name]))
  const [isTried, setTried] = useState(false)
  const { save, conflict, dismiss } = useSaveRow(org, { name, record: schema.name }, onDone)
  const found = read(field, text)
  const isLong = field.type === 'json' || field.type === 'text'
  const submit = () => {
    setTried(true)
    if (!('value' in found)) return
    if (isSame(found.value, row.data[field.name])) onDone()
    else save.run({ row, data: { [field.name]: found.value } })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.preventDefault()
      onDone()
    }
    // In a long text Enter is a new line.
    const isSaving = event.key === 'Enter' && (!isLong || event.ctrlKey || event.metaKey)
    const isInField = event.target instanceof HTMLElement && event.target.matches('input, select, textarea')
    if (isSaving && isInField && !conflict) {
      event.preventDefault()
      submit()
    }
  }
  const problem =
    (isTried && found.problem) ||
    issuesIn(save.error)[field.name] ||
    (save.error && `${titleOf(save.error)}. ${adviceOn(save.error)}`)
  return (
    <>
      <form
        className={styles.editor}
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <FieldInput
          field={field}
          text={text}
          onText={setText}
          now={row.data[field.name]}
          control={{ 'aria-label': field.name, ...(problem && { 'aria-invalid': true as const }) }}
          compact
          focused
        />
        <div className={styles.editorActions}>
          <Button small kind="first" type="submit" busy={save.busy}>
            Save
          </Button>
          <Button small kind="quiet" onClick={onDone}>
            Cancel
          </Button>
        </div>
        {problem && (
          <p className={styles.problem} role="alert">
            {problem}
          </p>
        )}
      </form>
      {conflict && (
        <ConflictDialog
          conflict={conflict}
          fields={fieldsOf(schema)}
          action={save}
          onSave={(theirs, data) => save.run({ row: theirs, data })}
          onTakeTheirs={onDone}
          onClose={dismiss}
        />
      )}
    </>
  )
}
