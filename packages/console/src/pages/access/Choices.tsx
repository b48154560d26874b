import type { AccessScope } from '@trellis/contract'
import { Field, Select } from '../../ui/Field.tsx'
import type { Lifetime } from './lifetimes.ts'

export const ScopeChoice = ({
  value,
  onChoose,
}: {
  value: AccessScope
  onChoose: (scope: AccessScope) => void
}) => (
  <Field label="What git may do with it">
    {(control) => (
      <Select {...control} value={value} onChange={(event) => onChoose(event.target.value as AccessScope)}>
        <option value="read">Clone and fetch</option>
        <option value="write">Clone, fetch and push</option>
      </Select>
    )}
  </Field>
)

interface LifetimeChoiceProps {
  label: string
  hint?: string
  value: number
  options: readonly Lifetime[]
  onChoose: (seconds: number) => void
}

export const LifetimeChoice = ({ label, hint, value, options, onChoose }: LifetimeChoiceProps) => (
  <Field label={label} hint={hint}>
    {(control) => (
      <Select {...control} value={value} onChange={(event) => onChoose(Number(event.target.value))}>
        {options.map(({ seconds, label }) => (
          <option key={seconds} value={seconds}>
            {label}
          </option>
        ))}
      </Select>
    )}
  </Field>
)
