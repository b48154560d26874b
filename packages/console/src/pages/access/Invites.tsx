import type { Invite } from '@trellis/contract'
import { useState } from 'react'
import { useAction, useList } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/Confirm.tsx'
import { Section } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Access.module.css'
import { NewInvite } from './NewInvite.tsx'

/** The invites of the repository, whoever made them. */
export function Invites() {
  const { org, name } = useRepo()
  const [isNew, setNew] = useState(false)
  const list = useList(org, (api) => api.invites.list, { name })
  return (
    <Section
      title="Invites"
      actions={
        <Button icon="plus" onClick={() => setNew(true)}>
          New invite
        </Button>
      }
    >
      {list.isPending ? (
        <Skeleton rows={3} />
      ) : list.items.length === 0 ? (
        <p className={styles.quiet}>
          None. An invite is a link that hands out clones for a time, to people and agents without an account.
        </p>
      ) : (
        <Table
          label="Invites"
          columns={[
            { head: 'Begins with', kind: 'wide' },
            'May',
            'Clones taken',
            'Made',
            'Ends',
            { head: 'Actions', kind: 'heard' },
          ]}
        >
          {list.items.map((invite) => (
            <Row key={invite.id} of={invite} />
          ))}
        </Table>
      )}
      <Pager {...list} />
      {isNew && <NewInvite onClose={() => setNew(false)} />}
    </Section>
  )
}

const STATES = { revoked: 'revoked', expired: 'ended', exhausted: 'used up' } as const

function Row({ of }: { of: Invite }) {
  const { org, api } = useRepo()
  const [isRevoking, setRevoking] = useState(false)
  const revoke = useAction(() => api.invites.revoke({ id: of.id }), {
    done: 'The invite is revoked',
    changes: { org, paths: ['invites/', 'tokens/', 'events/'] },
    onDone: () => setRevoking(false),
  })
  return (
    <tr>
      <td>
        <code>{of.idPrefix}…</code>
      </td>
      <td>{of.scope}</td>
      <td className={styles.time}>
        {of.revealCount} of {of.maxReveals ?? 'any number'}
      </td>
      <td className={styles.time}>
        <TimeAgo at={of.createdAt} />
      </td>
      <td className={styles.time}>
        {of.status === 'active' ? (
          <TimeAgo at={of.expiresAt} />
        ) : (
          <Status kind="off">{STATES[of.status]}</Status>
        )}
      </td>
      <td>
        {of.status === 'active' && (
          <Button small kind="danger" aria-label={`Revoke ${of.idPrefix}`} onClick={() => setRevoking(true)}>
            Revoke…
          </Button>
        )}
        {isRevoking && (
          <Confirm
            title={`Revoke the invite ${of.idPrefix}…?`}
            about="The link is over, and the clones taken from it are refused by git from then on."
            act="Revoke the invite"
            action={revoke}
            onClose={() => setRevoking(false)}
            onConfirm={() => revoke.run(undefined)}
          />
        )}
      </td>
    </tr>
  )
}
