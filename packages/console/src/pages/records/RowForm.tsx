import type { RecordSchema } from '@trellis/contract'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Field, Form, FormActions } from '../../ui/Field.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { FieldInput } from './FieldInput.tsx'
import { type Data, issuesIn } from './saving.ts'
import { askedOf, type Field as Declared, fieldsOf } from './schema.ts'
import { isSame, read, typed } from './values.ts'

interface RowFormProps {
  schema: RecordSchema
  /** What the row holds; nothing of a new one. */
  data: Data
  /** On the button: `Save`. */
  act: string
  action: { busy: boolean; error: Error | null }
  /** The fields that were changed; null takes a value away. */
  onSave: (changed: Data) => void
  isNew?: boolean
  readOnly?: boolean
  children?: ReactNode
}

/** All fields of a row, each with the control of its type. */
export function RowForm({
  schema,
  data,
  act,
  action,
  onSave,
  isNew = false,
  readOnly = false,
  children,
}: RowFormProps) {
  const [drafts, setDrafts] = useState<Record<string, string>>({})
  const [isTried, setTried] = useState(false)
  const fields = fieldsOf(schema)
  const refused = issuesIn(action.error)
  const textOf = (field: Declared) => drafts[field.name] ?? typed(field, data[field.name])
  const reads = fields.map((field) => ({ field, ...read(field, textOf(field)) }))
  const changed: Data = Object.fromEntries(
    reads.flatMap((one) =>
      'value' in one && one.field.name in drafts && !isSame(one.value, data[one.field.name])
        ? [[one.field.name, one.value]]
        : [],
    ),
  )
  const isWrong = reads.some(({ problem }) => problem)
  const isChanged = Object.keys(changed).length > 0 || isWrong
  const hasFields = Object.keys(refused).length > 0

  return (
    <Form
      onSubmit={() => {
        setTried(true)
        if (!isWrong) onSave(changed)
      }}
    >
      {reads.map(({ field, problem }) => (
        <Field
          key={field.name}
          label={field.name}
          hint={hintOf(field, isNew)}
          // JSON is looked at while it is written: it is long, and its place is told.
          problem={isTried || field.type === 'json' ? (problem ?? refused[field.name]) : refused[field.name]}
        >
          {(control) => (
            <fieldset disabled={readOnly} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
              <FieldInput
                field={field}
                text={textOf(field)}
                onText={(text) => setDrafts((all) => ({ ...all, [field.name]: text }))}
                now={data[field.name]}
                control={control}
              />
            </fieldset>
          )}
        </Field>
      ))}
      {!hasFields && <ActionProblem of={action} />}
      {!readOnly && (
        <FormActions>
          <Button kind="first" type="submit" busy={action.busy} disabled={!isNew && !isChanged}>
            {act}
          </Button>
          {isChanged && !isNew && (
            <Button kind="quiet" onClick={() => setDrafts({})}>
              Undo changes
            </Button>
          )}
          {children}
        </FormActions>
      )}
    </Form>
  )
}

function hintOf(field: Declared, isNew: boolean): string {
  const fallback =
    isNew && field.default !== undefined ? ` · ${JSON.stringify(field.default)} when left empty` : ''
  return askedOf(field) + fallback
}
