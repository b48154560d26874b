import type { Invitation } from '@trellis/contract'
import { useAction, useList } from '../../api/queries.ts'
import { useOrg } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Section } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { InvitationLink, useInviting } from './Invite.tsx'
import styles from './People.module.css'

/** Those that nobody has accepted yet. */
export function Invitations() {
  const { org } = useOrg()
  const list = useList(org, (api) => api.invitations.list, { orgSlug: org })
  return (
    <Section title="Open invitations">
      {list.items.length === 0 ? (
        <p className={styles.quiet}>Nobody is invited at the moment.</p>
      ) : (
        <Table
          label="Open invitations"
          columns={[{ head: 'Address', kind: 'wide' }, 'Role', 'Ends', { head: 'Actions', kind: 'heard' }]}
        >
          {list.items.map((invitation) => (
            <Row key={invitation.email} of={invitation} />
          ))}
        </Table>
      )}
      <Pager {...list} />
    </Section>
  )
}

function Row({ of }: { of: Invitation }) {
  const { org, api } = useOrg()
  const again = useInviting()
  const cancel = useAction(() => api.invitations.cancel({ invitationId: of.id }), {
    done: `The invitation for ${of.email} is withdrawn`,
    changes: { org, paths: ['invitations/', 'events/'] },
  })
  return (
    <tr>
      <td>
        {of.email}
        <ActionProblem of={again} />
        <ActionProblem of={cancel} />
      </td>
      <td>{of.role}</td>
      <td className={styles.time}>
        <TimeAgo at={of.expiresAt} />
      </td>
      <td>
        <div className={styles.acts}>
          <Button
            small
            kind="quiet"
            busy={again.busy}
            aria-label={`New link for ${of.email}`}
            onClick={() => again.run({ email: of.email, role: of.role })}
          >
            New link
          </Button>
          <Button
            small
            kind="danger"
            busy={cancel.busy}
            aria-label={`Withdraw the invitation for ${of.email}`}
            onClick={() => cancel.run(undefined)}
          >
            Withdraw
          </Button>
        </div>
        {again.result && <InvitationLink of={again.result} onClose={again.forget} />}
      </td>
    </tr>
  )
}
