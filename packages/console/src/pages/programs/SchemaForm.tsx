import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Checkbox, Field, Input, Select, Textarea } from '../../ui/Field.tsx'
import styles from './SchemaForm.module.css'
import {
  hintOf,
  initialValue,
  isRequired,
  type JsonSchema,
  joined,
  type Problems,
  propertiesOf,
  type Shape,
  shapeOf,
} from './schema-shape.ts'

interface PartProps {
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

/** A form made from a JSON Schema. `undefined` is what is left out. */
export function SchemaForm(props: Omit<PartProps, 'label' | 'required' | 'at' | 'part'>) {
  const shape = shapeOf(props.root, props.root)
  if (shape.kind === 'object')
    return <Properties {...props} part={props.root} label="" required at="" shape={shape} />
  return <Part {...props} part={props.root} label="Input" required at="" />
}

type ShapedProps = PartProps & { shape: Shape }

function Part(props: PartProps) {
  const shape = shapeOf(props.part, props.root)
  const { title } = shape.schema
  const label = `${typeof title === 'string' ? title : props.label}${props.required ? '' : ' (optional)'}`
  const shaped = { ...props, shape, label }
  switch (shape.kind) {
    case 'object':
      return <ObjectPart {...shaped} />
    case 'list':
      return <ListPart {...shaped} />
    case 'boolean':
      return props.required || shape.schema.default !== undefined ? (
        <YesOrNo {...shaped} />
      ) : (
        <Choice {...shaped} shape={{ ...shape, options: [true, false] }} />
      )
    case 'choice':
      return <Choice {...shaped} />
    case 'number':
    case 'integer':
      return <NumberPart {...shaped} />
    case 'text':
      return <TextPart {...shaped} />
    case 'json':
      return <JsonPart {...shaped} />
  }
}

function Properties({ shape, root, at, value, onChange, problems }: ShapedProps) {
  const values = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return Object.entries(propertiesOf(shape.schema)).map(([name, part]) => (
    <Part
      key={name}
      part={part}
      root={root}
      label={name}
      required={isRequired(shape.schema, name)}
      at={joined(at, name)}
      value={values[name]}
      onChange={(inner) => onChange(inOrder({ ...values, [name]: inner }, shape))}
      problems={problems}
    />
  ))
}

/** As the schema has its properties, and then whatever else there is; without what is left out. */
function inOrder(values: Record<string, unknown>, { schema }: Shape): Record<string, unknown> {
  const names = new Set([...Object.keys(propertiesOf(schema)), ...Object.keys(values)])
  return Object.fromEntries(
    [...names].flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  )
}

function ObjectPart(props: ShapedProps) {
  const { label, required, value, onChange, shape, part, root, problems, at } = props
  const problem = problems.get(at)
  return (
    <fieldset className={styles.group}>
      <legend>{label}</legend>
      {hintOf(shape) && <p className={styles.hint}>{hintOf(shape)}</p>}
      {value === undefined ? (
        <Button small icon="plus" onClick={() => onChange(initialValue(part, root, true))}>
          {`Give ${props.label.replace(' (optional)', '')}`}
        </Button>
      ) : (
        <>
          <Properties {...props} />
          {!required && (
            <Button small kind="quiet" onClick={() => onChange(undefined)}>
              Leave it out
            </Button>
          )}
        </>
      )}
      {problem && <Said problem={problem} />}
    </fieldset>
  )
}

function ListPart({ label, value, onChange, shape, root, at, problems }: ShapedProps) {
  const items = Array.isArray(value) ? (value as unknown[]) : []
  const problem = problems.get(at)
  const name = label.replace(' (optional)', '')
  return (
    <fieldset className={styles.group}>
      <legend>{label}</legend>
      {hintOf(shape) && <p className={styles.hint}>{hintOf(shape)}</p>}
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item is what stands at its place.
        <div key={`${items.length} ${index}`} className={styles.item}>
          <Part
            part={shape.schema.items}
            root={root}
            label={`${name} ${index + 1}`}
            required
            at={joined(at, index)}
            value={item}
            onChange={(inner) => onChange(items.with(index, inner))}
            problems={problems}
          />
          <Button
            small
            kind="quiet"
            icon="close"
            aria-label={`Remove ${name} ${index + 1}`}
            onClick={() => onChange(items.toSpliced(index, 1))}
          />
        </div>
      ))}
      <Button
        small
        icon="plus"
        onClick={() => onChange([...items, initialValue(shape.schema.items, root, true)])}
      >
        {`Add to ${name}`}
      </Button>
      {problem && <Said problem={problem} />}
    </fieldset>
  )
}

const Said = ({ problem }: { problem: string }) => (
  <p className={styles.problem} role="alert">
    {problem}
  </p>
)

function YesOrNo({ label, value, onChange, shape, at, problems }: ShapedProps) {
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

function Choice({ label, required, value, onChange, shape, at, problems }: ShapedProps) {
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

function NumberPart({ label, value, onChange, shape, at, problems }: ShapedProps) {
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

function TextPart({ label, value, onChange, shape, at, problems }: ShapedProps) {
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

function JsonPart({ label, value, onChange, shape, at, problems }: ShapedProps) {
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
