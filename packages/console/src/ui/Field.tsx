import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './Field.module.css'

interface FieldProps {
  label: string
  hint?: ReactNode
  /** What is wrong with what was given. */
  problem?: string | undefined
  /** Gets what connects the control to its label, hint and problem. */
  children: (control: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode
}

/** `<Field label="Name">{(control) => <Input {...control} … />}</Field>` */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(described && { 'aria-describedby': described }),
        ...(problem && { 'aria-invalid': true as const }),
      })}
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
      {problem && (
        <p id={`${id}-problem`} className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

export const Input = ({ mono, ...rest }: ComponentProps<'input'> & { mono?: boolean }) => (
  <input
    className={mono ? `${styles.control} ${styles.mono}` : styles.control}
    spellCheck={false}
    autoComplete="off"
    {...rest}
  />
)

interface TextFieldProps
  extends Omit<FieldProps, 'children'>,
    Omit<ComponentProps<typeof Input>, 'id' | 'onChange'> {
  onChange: (text: string) => void
}

/** A line of text that is asked for: `<TextField label="Name" value={name} onChange={setName} />`. */
export const TextField = ({ label, hint, problem, onChange, ...rest }: TextFieldProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {(control) => <Input {...control} {...rest} onChange={({ target }) => onChange(target.value)} />}
  </Field>
)

export const Textarea = ({ mono, ...rest }: ComponentProps<'textarea'> & { mono?: boolean }) => (
  <textarea className={`${styles.control} ${styles.area} ${mono ? styles.mono : ''}`} rows={4} {...rest} />
)

export const Select = ({ children, ...rest }: ComponentProps<'select'>) => (
  <select className={`${styles.control} ${styles.select}`} {...rest}>
    {children}
  </select>
)

interface ChoiceFieldProps<Value extends string | number> extends Omit<FieldProps, 'children'> {
  value: Value
  options: readonly { value: Value; label: string }[]
  onChoose: (value: Value) => void
}

/** One of a few: `<ChoiceField label="Role" value={role} options={ROLES} onChoose={setRole} />`. */
export const ChoiceField = <Value extends string | number>({
  value,
  options,
  onChoose,
  ...field
}: ChoiceFieldProps<Value>) => (
  <Field {...field}>
    {(control) => (
      <Select
        {...control}
        value={value}
        onChange={({ target }) => {
          const chosen = options[target.selectedIndex]
          if (chosen) onChoose(chosen.value)
        }}
      >
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
    )}
  </Field>
)

export const Checkbox = ({
  label,
  hint,
  ...rest
}: ComponentProps<'input'> & { label: string; hint?: string }) => (
  <label className={styles.choice}>
    <input type="checkbox" {...rest} />
    <span>
      {label}
      {hint && <span className={styles.hint}>{hint}</span>}
    </span>
  </label>
)

/** Fields below one another, and what is done with them at the end. */
export const Form = ({
  onSubmit,
  ...rest
}: Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit: () => void }) => (
  <form
    className={styles.form}
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
    {...rest}
  />
)

export const FormActions = ({ children }: { children: ReactNode }) => (
  <div className={styles.actions}>{children}</div>
)
