import { useSuspenseQuery } from '@tanstack/react-query'
import type { Member } from '@trellis/contract'
import { useState } from 'react'
import { useList } from '../../api/queries.ts'
import { personQuery } from '../../api/session.ts'
import { useOrg } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { TwoLines } from '../../ui/Facts.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Tag } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { Invitations } from './Invitations.tsx'
import { Invite } from './Invite.tsx'
import { MemberActs } from './MemberActs.tsx'
import styles from './People.module.css'

/** Who is in an organization, what they may, and who has been invited. */
export function PeoplePage() {
  const { org, organization } = useOrg()
  const [isInviting, setInviting] = useState(false)
  const isAdmin = organization.role !== 'member'
  const list = useList(org, (api) => api.members.list, { orgSlug: org })
  return (
    <Page title={`People · ${organization.name}`}>
      <PageHeader
        title="People"
        about="A member pushes. An admin also says who may do what. An owner may do everything."
      >
        {isAdmin && (
          <Button kind="first" icon="plus" onClick={() => setInviting(true)}>
            Invite somebody
          </Button>
        )}
      </PageHeader>
      {list.isPending ? (
        <Skeleton />
      ) : (
        <Table
          label="Members"
          columns={[{ head: 'Name', kind: 'wide' }, 'Role', 'Since', { head: 'Actions', kind: 'heard' }]}
        >
          {list.items.map((member) => (
            <Row key={member.id} of={member} />
          ))}
        </Table>
      )}
      <Pager {...list} />
      {isAdmin && <Invitations />}
      {isInviting && <Invite onClose={() => setInviting(false)} />}
    </Page>
  )
}

function Row({ of }: { of: Member }) {
  const { data: person } = useSuspenseQuery(personQuery)
  return (
    <tr>
      <td>
        <TwoLines below={of.email ?? of.userId}>
          <span className={styles.named}>
            {of.name ?? 'Somebody'}
            {of.userId === person?.id && <Tag>you</Tag>}
          </span>
        </TwoLines>
      </td>
      <td>{of.role}</td>
      <td className={styles.time}>
        <TimeAgo at={of.createdAt} />
      </td>
      <td>
        <MemberActs of={of} isSelf={of.userId === person?.id} />
      </td>
    </tr>
  )
}
