import { Button } from '../../ui/Button.tsx'
import {
  Choice,
  JsonPart,
  NumberPart,
  type PartProps,
  Said,
  type ShapedProps,
  TextPart,
  YesOrNo,
} from './SchemaFields.tsx'
import styles from './SchemaForm.module.css'
import {
  hintOf,
  initialValue,
  isRequired,
  joined,
  propertiesOf,
  type Shape,
  shapeOf,
} from './schema-shape.ts'

/** A form made from a JSON Schema. `undefined` is what is left out. */
export function SchemaForm(props: Omit<PartProps, 'label' | 'required' | 'at' | 'part'>) {
  const shape = shapeOf(props.root, props.root)
  if (shape.kind === 'object')
    return <Properties {...props} part={props.root} label="" required at="" shape={shape} />
  return <Part {...props} part={props.root} label="Input" required at="" />
}

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
