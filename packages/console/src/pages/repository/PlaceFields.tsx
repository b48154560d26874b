import { ChoiceField, TextField } from '../../ui/Field.tsx'

export interface Place {
  org: string
  /** Those one can choose from. */
  orgs: readonly string[]
  onOrg: (org: string) => void
}

interface PlaceFieldsProps extends Place {
  name: string
  /** What is wrong with the name. */
  problem: string | undefined
  onName: (name: string) => void
}

export const NAME_HINT = 'Lowercase letters, digits, dots, dashes and underscores.'

/** Where a repository shall be, and how it is called. */
export function PlaceFields({ org, orgs, onOrg, name, problem, onName }: PlaceFieldsProps) {
  return (
    <>
      <ChoiceField
        label="Organization"
        value={org}
        options={orgs.map((slug) => ({ value: slug, label: slug }))}
        onChoose={onOrg}
      />
      <TextField
        label="Name"
        hint={NAME_HINT}
        problem={problem}
        mono
        required
        maxLength={64}
        value={name}
        onChange={onName}
      />
    </>
  )
}
