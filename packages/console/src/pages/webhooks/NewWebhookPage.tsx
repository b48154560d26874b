import { Link, useNavigate } from '@tanstack/react-router'
import { useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { SecretOnce } from '../../ui/SecretOnce.tsx'
import { AdminsOnly } from './AdminsOnly.tsx'
import { type WebhookFields, WebhookForm } from './WebhookForm.tsx'

export function NewWebhookPage() {
  const { org, name, repo, api } = useRepo()
  const navigate = useNavigate()
  const create = useAction((fields: WebhookFields) => api.webhooks.create({ name, ...fields }), {
    changes: { org, paths: ['webhooks/'] },
  })
  const made = create.result
  return (
    <Page title={`New webhook · ${org}/${name}`}>
      <PageHeader
        title={made ? `Webhook ${made.name} is there` : 'New webhook'}
        about={
          <Link to="/o/$org/$repo/webhooks" params={{ org, repo: name }}>
            All webhooks
          </Link>
        }
      />
      {!repo.canAdmin ? (
        <AdminsOnly />
      ) : made ? (
        <SecretOnce
          label="The signing secret"
          secret={made.secret}
          onStored={() =>
            void navigate({
              to: '/o/$org/$repo/webhooks/$webhook',
              params: { org, repo: name, webhook: made.name },
            })
          }
        >
          <p>
            Every delivery is signed with it, as Standard Webhooks describes. The receiver checks that before
            it believes a word.
          </p>
        </SecretOnce>
      ) : (
        <WebhookForm act="Create webhook" action={create} onSave={create.run} />
      )}
    </Page>
  )
}
