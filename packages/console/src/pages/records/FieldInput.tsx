import { Input, Select, Textarea } from '../../ui/Field.tsx'
import { RefInput } from './RefInput.tsx'
import { type Field, nextValues } from './schema.ts'

interface FieldInputProps {
  field: Field
  /** What stands in it, as text. */
  text: string
  onText: (text: string) => void
  /** What the row holds now: from there some values cannot follow. */
  now?: unknown
  /** In a table, where there is room for a line. */
  compact?: boolean
  control?: { id?: string; 'aria-label'?: string; 'aria-describedby'?: string; 'aria-invalid'?: true }
  focused?: boolean
}

/** The control for a value of a field, by its type. */
export function FieldInput({ field, text, onText, now, compact, control, focused }: FieldInputProps) {
  const { type, required, values = [] } = field
  const common = {
    ...control,
    ...(focused && { autoFocus: true }),
    value: text,
    onChange: (event: { target: { value: string } }) => onText(event.target.value),
  }
  switch (type) {
    case 'boolean':
      return <Choice {...common} values={['true', 'false']} required={required} />
    case 'enum':
      return <Choice {...common} values={values} allowed={nextValues(field, now)} required={required} />
    case 'integer':
    case 'number':
      return <Input {...common} mono inputMode={type === 'integer' ? 'numeric' : 'decimal'} />
    case 'timestamp':
      return <Input {...common} type="datetime-local" step="any" />
    case 'ref':
      return <RefInput record={field.record ?? ''} text={text} onText={onText} control={common} />
    case 'json':
      return <Textarea {...common} mono rows={compact ? 6 : 8} spellCheck={false} />
    case 'text':
      return <Textarea {...common} rows={compact ? 4 : 6} />
    default:
      return <Input {...common} />
  }
}

interface ChoiceProps {
  values: readonly string[]
  /** Those that may be chosen; all when left out. */
  allowed?: readonly string[] | undefined
  required?: boolean | undefined
  value: string
  onChange: (event: { target: { value: string } }) => void
}

function Choice({ values, allowed, required, ...rest }: ChoiceProps) {
  const isFree = allowed === undefined
  return (
    <Select {...rest}>
      {(!required || rest.value === '') && isFree && <option value="">no value</option>}
      {values.map((value) => {
        const isAllowed = isFree || allowed.includes(value)
        return (
          <option key={value} value={value} disabled={!isAllowed}>
            {isAllowed ? value : `${value} (cannot follow)`}
          </option>
        )
      })}
    </Select>
  )
}
