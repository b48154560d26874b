import { useList } from '../../api/queries.ts'
import { Command } from '../../ui/Code.tsx'
import { TwoLines } from '../../ui/Facts.tsx'
import { Section } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Admin.module.css'

/** Everybody who has an account. */
export function Users({ total }: { total: number }) {
  const list = useList(undefined, (api) => api.admin.users.list, {})
  return (
    <Section title={total === 1 ? '1 account' : `${total} accounts`}>
      {list.isPending ? (
        <Skeleton />
      ) : (
        <Table label="Accounts" columns={[{ head: 'Name', kind: 'wide' }, 'Address', 'Since', 'State']}>
          {list.items.map((user) => (
            <tr key={user.id}>
              <td>
                <TwoLines below={user.email}>{user.name}</TwoLines>
              </td>
              <td className={styles.time}>{user.emailVerified ? 'verified' : 'not verified'}</td>
              <td className={styles.time}>
                <TimeAgo at={user.createdAt} />
              </td>
              <td>
                {user.disabledAt === null ? (
                  <Status kind="active">active</Status>
                ) : (
                  <Status kind="off">disabled</Status>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Pager {...list} />
      <p>To shut somebody out, let them in again, or remove them, on the machine of the server:</p>
      <Command>npm run admin -- users</Command>
    </Section>
  )
}
