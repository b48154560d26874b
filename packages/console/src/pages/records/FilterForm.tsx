import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Input, Select } from '../../ui/Field.tsx'
import { FieldInput } from './FieldInput.tsx'
import styles from './Records.module.css'
import { COLUMNS, type Field } from './schema.ts'
import { isSame, type Read, read, typed } from './values.ts'
import { type Condition, OPERATORS, type Operator, operatorsFor } from './where.ts'

type Test = Extract<Condition, { field: string }>

interface FilterFormProps {
  fields: readonly Field[]
  /** The one that is changed; a new one when left out. */
  condition: Test | undefined
  field: string | undefined
  onApply: (condition: Test) => void
  onCancel: () => void
}

/** A condition: which field, how it is compared, with what. */
export function FilterForm({ fields, condition, field: first, onApply, onCancel }: FilterFormProps) {
  const all = [...fields, ...COLUMNS]
  const fieldNamed = (name: string | undefined) => all.find((one) => one.name === name) ?? (all[0] as Field)
  const [field, setField] = useState(fieldNamed(condition?.field ?? first))
  const [operator, setOperator] = useState<Operator>(
    condition?.operator ?? operatorsFor(field.type)[0] ?? 'eq',
  )
  const [text, setText] = useState(condition ? textOf(field, condition) : '')
  const [isTried, setTried] = useState(false)
  const found = readOperand(field, operator, text)

  const apply = () => {
    setTried(true)
    if ('value' in found) onApply({ field: field.name, operator, value: found.value })
  }
  return (
    <form
      className={styles.filterForm}
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <Select
        aria-label="Field"
        autoFocus
        value={field.name}
        onChange={(event) => {
          const next = fieldNamed(event.target.value)
          setField(next)
          setOperator(operatorsFor(next.type)[0] ?? 'eq')
          setText('')
        }}
      >
        {all.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <Select
        aria-label="Compared by"
        value={operator}
        onChange={(event) => {
          setOperator(event.target.value as Operator)
          setText('')
        }}
      >
        {operatorsFor(field.type).map((one) => (
          <option key={one} value={one}>
            {OPERATORS[one]}
          </option>
        ))}
      </Select>
      <div className={styles.operand}>
        <Operand field={field} operator={operator} text={text} onText={setText} />
      </div>
      <Button kind="first" type="submit">
        Apply
      </Button>
      <Button kind="quiet" onClick={onCancel}>
        Cancel
      </Button>
      {isTried && found.problem && (
        <p className={styles.problem} role="alert">
          {found.problem}
        </p>
      )}
    </form>
  )
}

interface OperandProps {
  field: Field
  operator: Operator
  text: string
  onText: (text: string) => void
}

function Operand({ field, operator, text, onText }: OperandProps) {
  const given = {
    value: text,
    onChange: (event: { target: { value: string } }) => onText(event.target.value),
  }
  if (operator === 'exists')
    return (
      <Select aria-label="Value" {...given} value={text || 'true'}>
        <option value="true">yes</option>
        <option value="false">no</option>
      </Select>
    )
  if (operator === 'in') return <Input aria-label="Values" placeholder="one, two, three" {...given} />
  const isLine = ['text', 'json', 'ref'].includes(field.type)
  // Compared with, a text is a line, and any value of an enum may be asked for.
  const asked: Field = {
    name: field.name,
    type: isLine ? 'string' : field.type,
    ...(field.values && { values: field.values }),
  }
  return <FieldInput field={asked} text={text} onText={onText} control={{ 'aria-label': 'Value' }} />
}

function textOf(field: Field, { operator, value }: Test): string {
  if (operator === 'exists') return value === false ? 'false' : 'true'
  if (operator === 'in' && Array.isArray(value)) return value.map((one) => typed(field, one)).join(', ')
  return field.type === 'json' ? JSON.stringify(value) : typed(field, value)
}

function readOperand(field: Field, operator: Operator, text: string): Read {
  if (operator === 'exists') return { value: text !== 'false' }
  if (operator === 'in') return readList(field, text)
  // An element of a list: a number, true, or else a text.
  if (field.type === 'json') {
    const found = read({ type: 'json' }, text)
    return 'value' in found && !isSame(found.value, null) ? found : { value: text }
  }
  const found = read({ type: field.type }, text)
  const needsOne = operator !== 'eq' && operator !== 'ne'
  return 'value' in found && found.value === null && needsOne ? { problem: 'Give a value' } : found
}

function readList(field: Field, text: string): Read {
  const values: unknown[] = []
  for (const part of text.split(',').map((one) => one.trim())) {
    const found = read({ type: field.type }, part)
    if (found.problem !== undefined) return found
    if (part !== '') values.push((found as { value: unknown }).value)
  }
  return values.length > 0 ? { value: values } : { problem: 'Give values, with commas between them' }
}
