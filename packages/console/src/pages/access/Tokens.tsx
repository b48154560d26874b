import { useQuery } from '@tanstack/react-query'
import type { RepoToken } from '@trellis/contract'
import { useState } from 'react'
import { query, useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/Confirm.tsx'
import { Section } from '../../ui/Page.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Access.module.css'
import { NewToken } from './NewToken.tsx'

/** All tokens that work, and what ended in the last 30 days. */
export function Tokens() {
  const { org, name } = useRepo()
  const [isNew, setNew] = useState(false)
  const { data } = useQuery(query(org, (api) => api.tokens.list, { name }))
  return (
    <Section
      title="Tokens"
      actions={
        <Button icon="plus" onClick={() => setNew(true)}>
          New token
        </Button>
      }
    >
      {!data ? (
        <Skeleton rows={3} />
      ) : data.items.length === 0 ? (
        <p className={styles.quiet}>
          None. A token opens this one repository for a time: for CI, or for an agent that may move some
          branches.
        </p>
      ) : (
        <Table
          label="Tokens"
          columns={[
            { head: 'Begins with', kind: 'wide' },
            'May',
            'Made for',
            'Made',
            'Ends',
            { head: 'Actions', kind: 'heard' },
          ]}
        >
          {data.items.map((token) => (
            <Row key={token.id} of={token} />
          ))}
        </Table>
      )}
      {isNew && <NewToken onClose={() => setNew(false)} />}
    </Section>
  )
}

const PURPOSES: Record<string, string> = {
  api: 'somebody',
  invite: 'an invite',
  run: 'a run',
  import: 'an import',
}

function Row({ of }: { of: RepoToken }) {
  const { org, name, api } = useRepo()
  const [isRevoking, setRevoking] = useState(false)
  const revoke = useAction(() => api.tokens.revoke({ name, id: of.id }), {
    done: 'The token is revoked',
    changes: { org, paths: ['tokens/', 'events/'] },
    onDone: () => setRevoking(false),
  })
  const isOver = Date.parse(of.expiresAt) <= Date.now()
  return (
    <tr>
      <td>
        <code>{of.tokenPrefix}…</code>
      </td>
      <td>{of.scope}</td>
      <td>{PURPOSES[of.op] ?? of.op}</td>
      <td className={styles.time}>
        <TimeAgo at={of.createdAt} />
      </td>
      <td className={styles.time}>
        {of.revokedAt !== null ? (
          <Status kind="off">revoked</Status>
        ) : isOver ? (
          <Status kind="off">ended</Status>
        ) : (
          <TimeAgo at={of.expiresAt} />
        )}
      </td>
      <td>
        {of.revokedAt === null && !isOver && (
          <Button
            small
            kind="danger"
            aria-label={`Revoke ${of.tokenPrefix}`}
            onClick={() => setRevoking(true)}
          >
            Revoke…
          </Button>
        )}
        {isRevoking && (
          <Confirm
            title={`Revoke ${of.tokenPrefix}…?`}
            about="Git is refused with it from then on. A revoked token does not come back."
            act="Revoke the token"
            action={revoke}
            onClose={() => setRevoking(false)}
            onConfirm={() => revoke.run(undefined)}
          />
        )}
      </td>
    </tr>
  )
}
