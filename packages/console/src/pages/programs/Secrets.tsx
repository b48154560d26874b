import { useQuery } from '@tanstack/react-query'
import type { ExtensionEntry } from '@trellis/contract'
import { useState } from 'react'
import { trellis } from '../../api/client.ts'
import { query, useAction } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { DialogForm } from '../../ui/DialogForm.tsx'
import { TextField } from '../../ui/Field.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Tag } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Programs.module.css'

const KIND = 'secret:'

interface SecretsProps {
  org: string
  name: string
  extensions: readonly ExtensionEntry[]
}

/** The secrets of a repository: their names, and who wants them. Values are never shown. */
export function Secrets({ org, name, extensions }: SecretsProps) {
  const { data, isPending } = useQuery(query(org, (api) => api.secrets.list, { name }))
  const [setting, setSetting] = useState<string>()
  const [removing, setRemoving] = useState<string>()
  const changes = { org, paths: ['secrets/'] }
  const remove = useAction((secret: string) => trellis(org).secrets.delete({ name, secret }), {
    done: 'Secret deleted',
    changes,
    onDone: () => setRemoving(undefined),
  })
  if (isPending) return <Skeleton rows={2} />
  const wanted = new Map<string, string[]>()
  for (const { name: extension, capabilities } of extensions)
    for (const capability of capabilities)
      if (capability.startsWith(KIND)) {
        const secret = capability.slice(KIND.length)
        wanted.set(secret, [...(wanted.get(secret) ?? []), extension])
      }
  const there = new Map((data?.items ?? []).map(({ secret, updatedAt }) => [secret, updatedAt]))
  const all = [...new Set([...there.keys(), ...wanted.keys()])].sort()
  return (
    <>
      {all.length === 0 ? (
        <p className={styles.quiet}>
          None. An extension with <code>secret:API_TOKEN</code> among its capabilities is given what is set
          here as <code>ctx.secrets.API_TOKEN</code>.
        </p>
      ) : (
        <Table
          label="Secrets"
          columns={['Name', { head: 'Wanted by', kind: 'wide' }, 'Set', { head: 'Actions', kind: 'narrow' }]}
        >
          {all.map((secret) => (
            <tr key={secret}>
              <td>
                <code>{secret}</code>
              </td>
              <td>{wanted.get(secret)?.join(', ') ?? <span className={styles.dim}>nobody here</span>}</td>
              <td className={styles.nowrap}>
                {there.has(secret) ? (
                  <TimeAgo at={there.get(secret) ?? 0} />
                ) : (
                  <Tag tone="warned">not set</Tag>
                )}
              </td>
              <td>
                <span className={`${styles.inline} ${styles.nowrap}`}>
                  <Button
                    small
                    onClick={() => setSetting(secret)}
                    aria-label={`${there.has(secret) ? 'Change' : 'Set'} ${secret}`}
                  >
                    {there.has(secret) ? 'Change' : 'Set'}
                  </Button>
                  {there.has(secret) && (
                    <Button
                      small
                      kind="danger"
                      aria-label={`Delete ${secret}`}
                      onClick={() => setRemoving(secret)}
                    >
                      Delete
                    </Button>
                  )}
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <div>
        <Button icon="plus" onClick={() => setSetting('')}>
          New secret
        </Button>
      </div>
      {setting !== undefined && (
        <SetSecret org={org} name={name} secret={setting} onClose={() => setSetting(undefined)} />
      )}
      <ConfirmByName
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title="Delete a secret"
        about={`Runs that begin from now on find no ${removing ?? ''}. The value cannot be read back.`}
        name={removing ?? ''}
        act="Delete this secret"
        action={remove}
        onConfirm={() => removing && remove.run(removing)}
      />
    </>
  )
}

interface SetSecretProps {
  org: string
  name: string
  /** Empty where it is to be named. */
  secret: string
  onClose: () => void
}

function SetSecret({ org, name, secret, onClose }: SetSecretProps) {
  const [called, setCalled] = useState(secret)
  const [value, setValue] = useState('')
  const set = useAction(() => trellis(org).secrets.set({ name, secret: called, value }), {
    done: 'Secret kept',
    changes: { org, paths: ['secrets/'] },
    onDone: onClose,
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={secret ? `Set ${secret}` : 'New secret'}
      about="It is kept encrypted and never shown again. Extensions that were granted it get it when they run."
    >
      <DialogForm act="Keep secret" action={set} onSubmit={() => set.run(undefined)} onClose={onClose}>
        {!secret && (
          <TextField
            label="Name"
            hint="Capital letters, digits and underscores."
            mono
            required
            autoFocus
            maxLength={64}
            value={called}
            onChange={(text) => setCalled(text.toUpperCase())}
          />
        )}
        <TextField
          label="Value"
          mono
          required
          type="password"
          autoComplete="new-password"
          autoFocus={secret !== ''}
          value={value}
          onChange={setValue}
        />
      </DialogForm>
    </Dialog>
  )
}
