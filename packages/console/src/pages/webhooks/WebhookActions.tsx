import { useNavigate } from '@tanstack/react-router'
import type { Webhook } from '@trellis/contract'
import { useState } from 'react'
import { useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { FormActions } from '../../ui/Field.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/Menu.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { SecretOnce } from '../../ui/SecretOnce.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { type WebhookFields, WebhookForm } from './WebhookForm.tsx'

type Opened = 'edit' | 'rotate' | 'disable' | 'delete' | undefined

/** What a webhook can be told. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { org, name, api } = useRepo()
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  const changes = { org, paths: ['webhooks/', 'events/'] }
  const one = { name, webhook: webhook.name }
  const enable = useAction(() => api.webhooks.enable(one), { done: 'Enabled', changes })
  const disable = useAction(() => api.webhooks.disable(one), { done: 'Disabled', changes, onDone: close })
  return (
    <>
      {webhook.active ? (
        <Button onClick={() => setOpened('edit')}>Edit</Button>
      ) : (
        <Button kind="first" busy={enable.busy} onClick={() => enable.run(undefined)}>
          Enable
        </Button>
      )}
      <Menu align="end" trigger={<Button icon="more" aria-label="More" />}>
        {!webhook.active && <MenuItem onSelect={() => setOpened('edit')}>Edit</MenuItem>}
        <MenuItem icon="key" onSelect={() => setOpened('rotate')}>
          Rotate the secret
        </MenuItem>
        {webhook.active && <MenuItem onSelect={() => setOpened('disable')}>Disable</MenuItem>}
        <MenuLine />
        <MenuItem danger onSelect={() => setOpened('delete')}>
          Delete
        </MenuItem>
      </Menu>
      <ActionProblem of={enable} />
      {opened === 'edit' && <Edit webhook={webhook} onClose={close} />}
      {opened === 'rotate' && <Rotate webhook={webhook} onClose={close} />}
      {opened === 'delete' && <Delete webhook={webhook} onClose={close} />}
      <Dialog
        open={opened === 'disable'}
        onClose={close}
        title={`Disable ${webhook.name}?`}
        about="What is pending is dropped. It can be enabled again, and then hears of what happens from then on."
      >
        <ActionProblem of={disable} />
        <FormActions>
          <Button kind="danger" busy={disable.busy} onClick={() => disable.run(undefined)}>
            Disable it
          </Button>
          <Button kind="quiet" onClick={close}>
            Keep it
          </Button>
        </FormActions>
      </Dialog>
    </>
  )
}

interface PartProps {
  webhook: Webhook
  onClose: () => void
}

function Edit({ webhook, onClose }: PartProps) {
  const { org, name, api } = useRepo()
  const update = useAction(
    ({ url, on, contentType }: WebhookFields) =>
      api.webhooks.update({ name, webhook: webhook.name, url, on, contentType }),
    { done: 'Saved', changes: { org, paths: ['webhooks/'] }, onDone: onClose },
  )
  return (
    <Dialog open wide onClose={onClose} title={`Edit ${webhook.name}`}>
      <WebhookForm webhook={webhook} act="Save" action={update} onSave={update.run} onCancel={onClose} />
    </Dialog>
  )
}

function Rotate({ webhook, onClose }: PartProps) {
  const { org, name, api } = useRepo()
  const rotate = useAction(() => api.webhooks.secret({ name, webhook: webhook.name }), {
    changes: { org, paths: ['webhooks/'] },
  })
  const { secret, previousSecretRetiresAt } = rotate.result ?? {}
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Rotate the secret of ${webhook.name}`}
      about={
        secret
          ? undefined
          : 'A new secret signs every delivery from now on. The one in use signs beside it for a day, so the receiver can be changed at any time until then.'
      }
    >
      {secret ? (
        <SecretOnce label="The new signing secret" secret={secret} onStored={onClose}>
          {previousSecretRetiresAt !== undefined && (
            <p>
              The old one retires <TimeAgo at={previousSecretRetiresAt} />; until then both sign.
            </p>
          )}
        </SecretOnce>
      ) : (
        <>
          <ActionProblem of={rotate} />
          <FormActions>
            <Button kind="first" busy={rotate.busy} onClick={() => rotate.run(undefined)}>
              Make a new secret
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Keep this one
            </Button>
          </FormActions>
        </>
      )}
    </Dialog>
  )
}

function Delete({ webhook, onClose }: PartProps) {
  const { org, name, api } = useRepo()
  const navigate = useNavigate()
  const remove = useAction(() => api.webhooks.delete({ name, webhook: webhook.name }), {
    done: 'Webhook deleted',
    onDone: () =>
      void navigate({ to: '/o/$org/$repo/webhooks', params: { org, repo: name } }).then(() =>
        // Not before: this page would ask for what is gone.
        remove.client.invalidateQueries({ predicate: ({ queryKey: [, path] }) => path === 'webhooks/list' }),
      ),
  })
  return (
    <ConfirmByName
      open
      onClose={onClose}
      title={`Delete ${webhook.name}`}
      about="What is pending for it and the list of its deliveries go with it. Its receiver hears nothing more."
      name={webhook.name}
      act="Delete this webhook"
      action={remove}
      onConfirm={() => remove.run(undefined)}
    />
  )
}
