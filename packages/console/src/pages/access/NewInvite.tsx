import type { AccessScope } from '@trellis/contract'
import { useState } from 'react'
import { useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { DialogForm } from '../../ui/DialogForm.tsx'
import { ChoiceField, TextField } from '../../ui/Field.tsx'
import { SecretOnce } from '../../ui/SecretOnce.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { CLONE_LIFETIMES, LINK_LIFETIMES } from './lifetimes.ts'
import { ScopeChoice } from './ScopeChoice.tsx'

/** Makes a link that hands out clones. */
export function NewInvite({ onClose }: { onClose: () => void }) {
  const { org, name, api } = useRepo()
  const [scope, setScope] = useState<AccessScope>('read')
  const [expiresIn, setExpiresIn] = useState(7 * 86_400)
  const [grantTtlSeconds, setGrant] = useState(1800)
  const [most, setMost] = useState('')
  const create = useAction(
    () =>
      api.invites.create({
        name,
        scope,
        expiresIn,
        grantTtlSeconds,
        ...(most && { maxReveals: Number(most) }),
      }),
    { changes: { org, paths: ['invites/', 'events/'] } },
  )
  if (create.result)
    return (
      <Dialog open onClose={onClose} title="Your new invite">
        <SecretOnce label="The link" secret={create.result.url} onStored={onClose}>
          <p>
            Whoever has it can take a clone, a person or an agent. It ends{' '}
            <TimeAgo at={create.result.expiresAt} />.
          </p>
        </SecretOnce>
      </Dialog>
    )
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Invite to ${name}`}
      about="A link that hands out clones, each good for a time. Whoever opens it needs no account."
    >
      <DialogForm
        act="Create the link"
        action={create}
        onSubmit={() => create.run(undefined)}
        onClose={onClose}
      >
        <ScopeChoice value={scope} onChoose={setScope} />
        <ChoiceField
          label="The link works for"
          value={expiresIn}
          options={LINK_LIFETIMES}
          onChoose={setExpiresIn}
        />
        <ChoiceField
          label="Each clone works for"
          value={grantTtlSeconds}
          options={CLONE_LIFETIMES}
          onChoose={setGrant}
        />
        <TextField
          label="How many clones"
          hint="As many as people take when left empty."
          type="number"
          min={1}
          max={1000}
          value={most}
          onChange={setMost}
        />
      </DialogForm>
    </Dialog>
  )
}
