import { useState } from 'react'
import { Checkbox, Field, Input, Select, Textarea } from '../../ui/Field.tsx'
import styles from './SchemaForm.module.css'
import { hintOf, type JsonSchema, type Problems, type Shape } from './schema-shape.ts'

export interface PartProps {
  /** A part of the schema, and the whole of it. */
  part: unknown
  root: JsonSchema
  label: string
  required: boolean
  /** A JSON pointer: where problems are told. */
  at: string
  value: unknown
  onChange: (value: unknown) => void
  problems: Problems
}

export type ShapedProps = PartProps & { shape: Shape }

export const Said = ({ problem }: { problem: string }) => (
  <p className={styles.problem} role="alert">
    {problem}
  </p>
)

export function YesOrNo({ label, value, onChange, shape, at, problems }: ShapedProps) {
  const problem = problems.get(at)
  return (
    <div>
      <Checkbox
        label={label}
        hint={hintOf(shape)}
        checked={value === true}
        onChange={({ target }) => onChange(target.checked)}
      />
      {problem && <Said problem={problem} />}
    </div>
  )
}

export function Choice({ label, required, value, onChange, shape, at, problems }: ShapedProps) {
  const { options } = shape
  const chosen = options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value))
  return (
    <Field label={label} hint={hintOf(shape)} problem={problems.get(at)}>
      {(control) => (
        <Select
          {...control}
          value={chosen < 0 ? '' : String(chosen)}
          onChange={({ target }) => onChange(target.value === '' ? undefined : options[Number(target.value)])}
        >
          {(!required || chosen < 0) && <option value="">{required ? 'Choose one' : 'Not given'}</option>}
          {options.map((option, index) => (
            <option key={JSON.stringify(option)} value={index}>
              {typeof option === 'string' ? option : JSON.stringify(option)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

export function NumberPart({ label, value, onChange, shape, at, problems }: ShapedProps) {
  // What is written is no number yet while it is: `1.`, `-`.
  const [text, setText] = useState(value === undefined ? '' : String(value))
  return (
    <Field label={label} hint={hintOf(shape)} problem={problems.get(at)}>
      {(control) => (
        <Input
          {...control}
          inputMode={shape.kind === 'integer' ? 'numeric' : 'decimal'}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            const written = target.value.trim()
            const number = Number(written)
            onChange(written === '' ? undefined : Number.isFinite(number) ? number : written)
          }}
        />
      )}
    </Field>
  )
}

const TYPES: Record<string, string> = { email: 'email', uri: 'url', date: 'date' }
/** A longer text has more than a line. */
const LONG = 200

export function TextPart({ label, value, onChange, shape, at, problems }: ShapedProps) {
  const { format, maxLength } = shape.schema
  const text = typeof value === 'string' ? value : ''
  const change = (written: string) => onChange(written === '' ? undefined : written)
  const isLong = text.includes('\n') || (typeof maxLength === 'number' && maxLength > LONG)
  return (
    <Field label={label} hint={hintOf(shape)} problem={problems.get(at)}>
      {(control) =>
        isLong ? (
          <Textarea {...control} value={text} onChange={({ target }) => change(target.value)} />
        ) : (
          <Input
            {...control}
            type={TYPES[String(format)] ?? 'text'}
            value={text}
            onChange={({ target }) => change(target.value)}
          />
        )
      }
    </Field>
  )
}

export function JsonPart({ label, value, onChange, shape, at, problems }: ShapedProps) {
  return (
    <JsonInput
      label={label}
      hint={[hintOf(shape), 'As JSON.'].filter(Boolean).join(' ')}
      value={value}
      onChange={onChange}
      problem={problems.get(at)}
      rows={4}
    />
  )
}

interface JsonInputProps {
  label: string
  hint: string
  value: unknown
  onChange: (value: unknown) => void
  problem: string | undefined
  rows: number
}

/** Any value, as JSON. What cannot be read is said at once, and changes nothing. */
export function JsonInput({ label, hint, value, onChange, problem, rows }: JsonInputProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [wrong, setWrong] = useState<string>()
  return (
    <Field label={label} hint={hint} problem={wrong ?? problem}>
      {(control) => (
        <Textarea
          {...control}
          mono
          rows={rows}
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            try {
              onChange(target.value.trim() === '' ? undefined : JSON.parse(target.value))
              setWrong(undefined)
            } catch (error) {
              setWrong(`This is no JSON yet: ${(error as Error).message}`)
              onChange(NOT_JSON)
            }
          }}
        />
      )}
    </Field>
  )
}

/** In the place of a value that cannot be read yet: nothing is sent while there is one. */
export const NOT_JSON: unique symbol = Symbol('no JSON')
