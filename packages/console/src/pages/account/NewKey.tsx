import type { NewApiKey, Scope } from '@trellis/contract'
import { useState } from 'react'
import { trellis } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import { Command } from '../../ui/Code.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { DialogForm } from '../../ui/DialogForm.tsx'
import { Checkbox, ChoiceField, TextField } from '../../ui/Field.tsx'
import { SecretOnce } from '../../ui/SecretOnce.tsx'
import { endOf, FAMILIES, LIFETIMES, NOTHING } from './scopes.ts'

/** Makes a key with no more than it needs, and shows its secret the one time. */
export function NewKey({ org, onClose }: { org: string; onClose: () => void }) {
  const create = useAction(
    (wanted: { name: string; scopes: Scope[]; expiresAt: number | null }) => trellis(org).keys.create(wanted),
    { changes: { org, paths: ['keys/'] } },
  )
  return (
    <Dialog
      open
      onClose={onClose}
      title={create.result ? 'Your new key' : `New key in ${org}`}
      about={
        create.result
          ? undefined
          : 'It acts in your name. Give each machine its own, with no more than it needs.'
      }
    >
      {create.result ? (
        <Made made={create.result} onStored={onClose} />
      ) : (
        <Wanted action={create} onMake={create.run} onClose={onClose} />
      )}
    </Dialog>
  )
}

interface WantedProps {
  action: { busy: boolean; error: Error | null }
  onMake: (wanted: { name: string; scopes: Scope[]; expiresAt: number | null }) => void
  onClose: () => void
}

function Wanted({ action, onMake, onClose }: WantedProps) {
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [everywhere, setEverywhere] = useState(false)
  const [levels, setLevels] = useState<Record<string, Scope | ''>>({ repositories: 'repo:write' })
  const chosen = Object.values(levels).filter((scope) => scope !== '')
  const scopes: Scope[] = everywhere ? [...chosen, 'account'] : chosen
  return (
    <DialogForm
      act="Create key"
      action={action}
      isReady={chosen.length > 0}
      onSubmit={() => onMake({ name: name.trim(), scopes, expiresAt: endOf(days) })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Where it will be: Laptop, Build server."
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
      {FAMILIES.map((family) => (
        <ChoiceField
          key={family.name}
          label={family.label}
          value={levels[family.name] ?? ''}
          options={[NOTHING, ...family.levels]}
          onChoose={(scope) => setLevels({ ...levels, [family.name]: scope })}
        />
      ))}
      <ChoiceField label="Works for" value={days} options={LIFETIMES} onChoose={setDays} />
      <Checkbox
        label="In all my organizations"
        hint="Otherwise in this one alone. In each it may do no more than you."
        checked={everywhere}
        onChange={(event) => setEverywhere(event.target.checked)}
      />
    </DialogForm>
  )
}

const Made = ({ made, onStored }: { made: NewApiKey; onStored: () => void }) => (
  <SecretOnce label="The key" secret={made.secret} onStored={onStored}>
    <p>It is the password for git, with any user name, and a bearer for the API:</p>
    <Command>{`curl ${location.origin}/api/v1/credentials/self -d '{}' \
  -H "authorization: Bearer $KEY" -H 'content-type: application/json'`}</Command>
  </SecretOnce>
)
