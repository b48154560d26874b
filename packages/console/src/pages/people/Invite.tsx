import type { NewInvitation, Role } from '@trellis/contract'
import { useState } from 'react'
import { useAction } from '../../api/queries.ts'
import { useOrg } from '../../shell/places.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { DialogForm } from '../../ui/DialogForm.tsx'
import { ChoiceField, TextField } from '../../ui/Field.tsx'
import { SecretOnce } from '../../ui/SecretOnce.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'

interface RoleChoice {
  value: Role
  label: string
}

const ROLES: readonly RoleChoice[] = [
  { value: 'member', label: 'member: pushes' },
  { value: 'admin', label: 'admin: also says who may do what' },
]
/** Only owners make others owners. */
const OWNER: RoleChoice = { value: 'owner', label: 'owner: may do everything' }

interface Invited {
  email: string
  role: Role
}

export function useInviting() {
  const { org, api } = useOrg()
  return useAction((invited: Invited) => api.members.invite({ orgSlug: org, ...invited }), {
    changes: { org, paths: ['invitations/', 'events/'] },
  })
}

/** Invites an address, and gives the link to hand over. */
export function Invite({ onClose }: { onClose: () => void }) {
  const { organization } = useOrg()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const invite = useInviting()
  if (invite.result) return <InvitationLink of={invite.result} onClose={onClose} />
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Invite somebody to ${organization.name}`}
      about="You get a link to hand over. It works for a week, once, and for this address alone."
    >
      <DialogForm
        act="Create the link"
        action={invite}
        onSubmit={() => invite.run({ email, role })}
        onClose={onClose}
      >
        <TextField label="Email" type="email" required maxLength={254} value={email} onChange={setEmail} />
        <ChoiceField
          label="Role"
          value={role}
          options={organization.role === 'owner' ? [...ROLES, OWNER] : ROLES}
          onChoose={setRole}
        />
      </DialogForm>
    </Dialog>
  )
}

export const InvitationLink = ({ of, onClose }: { of: NewInvitation; onClose: () => void }) => (
  <Dialog open onClose={onClose} title={`${of.email} is invited`}>
    <SecretOnce label="The link" secret={of.url} onStored={onClose}>
      <p>
        {of.mailed ? 'It is also on its way by mail. ' : ''}Hand it to {of.email}: its page signs up who has
        no account yet. It ends <TimeAgo at={of.expiresAt} />.
      </p>
    </SecretOnce>
  </Dialog>
)
