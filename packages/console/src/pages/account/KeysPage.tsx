import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ApiKey } from '@trellis/contract'
import { useState } from 'react'
import { trellis } from '../../api/client.ts'
import { query, useAction } from '../../api/queries.ts'
import { organizationsQuery } from '../../api/session.ts'
import { useActingOrg } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/Confirm.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Select } from '../../ui/Field.tsx'
import { Menu, MenuItem } from '../../ui/Menu.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { Status, Tag } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Account.module.css'
import { NewKey } from './NewKey.tsx'

/** A person's own keys in one of their organizations. */
export function KeysPage() {
  const acting = useActingOrg()
  const { org = acting } = useSearch({ from: '/account/keys' })
  const [isNew, setNew] = useState(false)
  const { data: all } = useSuspenseQuery(organizationsQuery)
  const { data: keys } = useSuspenseQuery(query(org, (api) => api.keys.list, {}))
  const navigate = useNavigate()
  return (
    <Page title="Keys">
      <PageHeader
        title="Keys"
        about="A key stands for you: it is the password for git, and a bearer for the API. Each is made in one organization."
      >
        <Select
          aria-label="Organization"
          value={org}
          onChange={(event) => void navigate({ to: '/account/keys', search: { org: event.target.value } })}
        >
          {all.items.map(({ slug, name }) => (
            <option key={slug} value={slug}>
              {name}
            </option>
          ))}
        </Select>
        <Button kind="first" icon="plus" onClick={() => setNew(true)}>
          New key
        </Button>
      </PageHeader>
      {keys.items.length === 0 ? (
        <EmptyState title={`You have no key in ${org}`}>
          <p>Make one to clone and push from a machine of yours, or to call the API from a program.</p>
        </EmptyState>
      ) : (
        <Table
          label="Your keys"
          columns={[
            { head: 'Name', kind: 'wide' },
            'Begins with',
            'May',
            'Used',
            'Ends',
            { head: 'Actions', kind: 'heard' },
          ]}
        >
          {keys.items.map((key) => (
            <Row key={key.id} org={org} of={key} />
          ))}
        </Table>
      )}
      {isNew && <NewKey org={org} onClose={() => setNew(false)} />}
    </Page>
  )
}

function Row({ org, of }: { org: string; of: ApiKey }) {
  const [isRevoking, setRevoking] = useState(false)
  const api = trellis(org)
  const changes = { org, paths: ['keys/'] }
  const revoke = useAction(() => api.keys.revoke({ id: of.id }), { done: `${of.name} is revoked`, changes })
  const toggle = useAction((enabled: boolean) => api.keys.update({ id: of.id, enabled }), { changes })
  const isOver = of.expiresAt !== null && of.expiresAt <= Date.now()
  return (
    <tr>
      <td>
        <span className={styles.named}>
          {of.name}
          {isOver ? <Status kind="off">ended</Status> : !of.enabled && <Status kind="off">disabled</Status>}
        </span>
        <ActionProblem of={toggle} />
      </td>
      <td>
        <code>{of.prefix}…</code>
      </td>
      <td>
        <span className={styles.tags}>
          {of.scopes.map((scope) => (
            <Tag key={scope}>{scope}</Tag>
          ))}
        </span>
      </td>
      <td className={styles.time}>{of.lastUsedAt === null ? 'never' : <TimeAgo at={of.lastUsedAt} />}</td>
      <td className={styles.time}>{of.expiresAt === null ? 'never' : <TimeAgo at={of.expiresAt} />}</td>
      <td>
        <Menu
          align="end"
          trigger={<Button kind="quiet" small icon="more" aria-label={`What to do with ${of.name}`} />}
        >
          <MenuItem onSelect={() => toggle.run(!of.enabled)}>{of.enabled ? 'Disable' : 'Enable'}</MenuItem>
          <MenuItem danger onSelect={() => setRevoking(true)}>
            Revoke…
          </MenuItem>
        </Menu>
        {isRevoking && (
          <Confirm
            title={`Revoke ${of.name}?`}
            about="Whatever uses this key is refused from then on. A revoked key does not come back."
            act="Revoke the key"
            action={revoke}
            onClose={() => setRevoking(false)}
            onConfirm={() => revoke.run(undefined)}
          />
        )}
      </td>
    </tr>
  )
}
