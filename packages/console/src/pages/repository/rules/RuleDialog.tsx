import type { RefRefusals, RefRule } from '@trellis/contract'
import { useState } from 'react'
import { useAction } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Dialog } from '../../../ui/Dialog.tsx'
import { DialogForm } from '../../../ui/DialogForm.tsx'
import { Checkbox, Select, TextField } from '../../../ui/Field.tsx'
import styles from '../Repository.module.css'
import { DEEDS, type Refusable } from './words.ts'

/** What is refused on some branches or tags, and who may do it all the same. */
export function RuleDialog({ rule, onClose }: { rule: RefRule | undefined; onClose: () => void }) {
  const { org, name, api } = useRepo()
  const [pattern, setPattern] = useState(rule?.pattern ?? '')
  const [refuse, setRefuse] = useState<RefRefusals>(rule?.refuse ?? { force: { except: ['admin'] } })
  const set = useAction(
    async () => {
      const saved = await api.rules.set({ name, pattern: pattern.trim(), refuse })
      // Under another pattern it is another rule.
      if (rule && rule.pattern !== saved.pattern) await api.rules.delete({ name, pattern: rule.pattern })
      return saved
    },
    {
      done: ({ pattern }) => `The rule for ${pattern} holds`,
      changes: { org, paths: ['rules/', 'events/'] },
      onDone: onClose,
    },
  )
  const change = (deed: Refusable, except: string[] | undefined) => {
    const { [deed]: _, ...others } = refuse
    setRefuse(except ? { ...others, [deed]: { except } } : others)
  }
  return (
    <Dialog open onClose={onClose} title={rule ? 'Change a rule' : 'New rule'}>
      <DialogForm
        act="Save rule"
        action={set}
        isReady={pattern.trim() !== '' && Object.keys(refuse).length > 0}
        onSubmit={() => set.run(undefined)}
        onClose={onClose}
      >
        <TextField
          label="For"
          hint="Names of branches, with * for any letters: release/*. HEAD is the default branch. Tags begin with refs/tags/: refs/tags/v*."
          mono
          required
          maxLength={128}
          value={pattern}
          onChange={setPattern}
        />
        <fieldset className={styles.deeds}>
          <legend>Refused</legend>
          {DEEDS.map(({ deed, label, hint }) => (
            <div key={deed}>
              <Checkbox
                label={label}
                hint={hint}
                checked={refuse[deed] !== undefined}
                onChange={({ target }) => change(deed, target.checked ? ['admin'] : undefined)}
              />
              <Exceptions
                label={`Who may all the same: ${label}`}
                except={refuse[deed]?.except}
                onChange={(except) => change(deed, except)}
              />
            </div>
          ))}
        </fieldset>
      </DialogForm>
    </Dialog>
  )
}

interface ExceptionsProps {
  label: string
  except: readonly string[] | undefined
  onChange: (except: string[]) => void
}

const ROLES = ['member', 'admin', 'owner']

/** By role; people, agents and keys that were named besides stay named. */
function Exceptions({ label, except, onChange }: ExceptionsProps) {
  if (!except) return null
  const named = except.filter((entry) => !ROLES.includes(entry))
  const role = except.find((entry) => ROLES.includes(entry)) ?? 'nobody'
  return (
    <span className={styles.except}>
      <Select
        aria-label={label}
        value={role}
        onChange={({ target }) => onChange([...(target.value === 'nobody' ? [] : [target.value]), ...named])}
      >
        <option value="nobody">to everybody</option>
        <option value="owner">but to owners</option>
        <option value="admin">but to admins</option>
        <option value="member">but to members</option>
      </Select>
      {named.length > 0 && <span className={styles.note}>{`nor to ${named.join(', ')}`}</span>}
    </span>
  )
}
