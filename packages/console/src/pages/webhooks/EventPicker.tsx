import { REPO_EVENTS } from '../../activity/types.ts'
import { Checkbox, TextField } from '../../ui/Field.tsx'
import styles from './Webhooks.module.css'

interface EventPickerProps {
  /** Exact types, and patterns such as `run.*`. */
  types: readonly string[]
  onChange: (types: string[]) => void
}

const KNOWN = new Set(REPO_EVENTS.flatMap(({ about, types }) => [`${about}.*`, ...types]))

/** Which events: all of a kind, some of it, or types that extensions emit. */
export function EventPicker({ types, onChange }: EventPickerProps) {
  const others = types.filter((type) => !KNOWN.has(type))
  const known = types.filter((type) => KNOWN.has(type))
  const toggle = (type: string, isOn: boolean) =>
    onChange(isOn ? [...types, type] : types.filter((one) => one !== type))
  return (
    <div className={styles.picker}>
      {REPO_EVENTS.map(({ about, types: all }) => {
        const every = `${about}.*`
        const hasEvery = types.includes(every)
        return (
          <fieldset key={about} className={styles.group}>
            <legend>{about}</legend>
            {all.length > 1 && (
              <Checkbox
                label={every}
                checked={hasEvery}
                onChange={(event) =>
                  onChange(
                    event.target.checked
                      ? [...types.filter((type) => !all.includes(type)), every]
                      : types.filter((type) => type !== every),
                  )
                }
              />
            )}
            {all.map((type) => (
              <Checkbox
                key={type}
                label={type}
                checked={hasEvery || types.includes(type)}
                disabled={hasEvery}
                onChange={(event) => toggle(type, event.target.checked)}
              />
            ))}
          </fieldset>
        )
      })}
      <TextField
        label="Other types"
        hint="What extensions emit, exact or as patterns, with commas: task.escalated, deploy.*"
        mono
        defaultValue={others.join(', ')}
        onChange={(text) => onChange([...known, ...listed(text)])}
      />
    </div>
  )
}

/** What stands between commas or in lines. */
export const listed = (text: string): string[] =>
  text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter(Boolean)
