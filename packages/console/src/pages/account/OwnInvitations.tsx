import { useList } from '../../api/queries.ts'
import { Section } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'

/** What waits for one's own address. It is the link that opens it, which whoever invited has handed over. */
export function OwnInvitations() {
  const list = useList(undefined, (api) => api.invitations.list, {})
  if (list.items.length === 0) return null
  return (
    <Section title="Invitations for you">
      <p>Open the link you were given to join. Without it, ask whoever invited you for another.</p>
      <Table label="Invitations for you" columns={['Organization', 'Role', 'Ends']}>
        {list.items.map(({ id, orgName, role, expiresAt }) => (
          <tr key={id}>
            <td>{orgName}</td>
            <td>{role}</td>
            <td>
              <TimeAgo at={expiresAt} />
            </td>
          </tr>
        ))}
      </Table>
      <Pager {...list} />
    </Section>
  )
}
