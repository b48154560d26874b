import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Webhook } from '@trellis/contract'
import { query } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Fact, FramedFacts } from '../../ui/Facts.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Status, Tag } from '../../ui/Status.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { AdminsOnly } from './AdminsOnly.tsx'
import { Deliveries } from './Deliveries.tsx'
import { WebhookActions } from './WebhookActions.tsx'
import styles from './Webhooks.module.css'
import { reasonsIn, stateOf, subscriptionInWords } from './words.ts'

/** One webhook: what it is, what it can be told, and what became of its deliveries. */
export function WebhookPage() {
  const { org, name, repo } = useRepo()
  const { webhook = '' } = useParams({ strict: false })
  if (!repo.canAdmin)
    return (
      <Page title={`${webhook} · ${org}/${name}`}>
        <PageHeader title={webhook} />
        <AdminsOnly />
      </Page>
    )
  return <Known key={webhook} name={webhook} />
}

function Known({ name: webhookName }: { name: string }) {
  const { org, name } = useRepo()
  const { data: webhook } = useSuspenseQuery(
    query(org, (api) => api.webhooks.get, { name, webhook: webhookName }),
  )
  return (
    <Page title={`${webhook.name} · ${org}/${name}`}>
      <PageHeader
        title={webhook.name}
        about={
          <Link to="/o/$org/$repo/webhooks" params={{ org, repo: name }}>
            All webhooks
          </Link>
        }
      >
        <WebhookActions webhook={webhook} />
      </PageHeader>
      <WebhookFacts webhook={webhook} />
      <Deliveries webhook={webhook.name} />
    </Page>
  )
}

function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { org, name } = useRepo()
  const state = stateOf(webhook)
  const disabled = useQuery({
    ...query(org, (api) => api.events.list, {
      name,
      types: ['webhook.disabled'],
      order: 'newest',
      limit: 100,
    }),
    enabled: !webhook.active,
  })
  const reason = reasonsIn(disabled.data?.items ?? []).get(webhook.name)
  return (
    <FramedFacts>
      <Fact name="State">
        <span className={styles.outcome}>
          <Status kind={state.kind}>{state.word}</Status>
          <span>
            {webhook.status === 'orphaned'
              ? 'The canonical commit no longer declares it, so nothing is delivered.'
              : !webhook.active && `${reason ?? ''} Nothing is delivered until it is enabled.`}
          </span>
        </span>
      </Fact>
      <Fact name="URL">
        <code>{webhook.url}</code>
      </Fact>
      <Fact name="Hears of">{subscriptionInWords(webhook.on)}</Fact>
      <Fact name="Sends">
        <code>{String(webhook.contentType)}</code>{' '}
        {webhook.hasPayload && <Tag>body made by a module of the repository</Tag>}
      </Fact>
      <Fact name="Secret">
        begins with <code>{webhook.secretPrefix}</code>
      </Fact>
      <Fact name="Made">
        <TimeAgo at={webhook.createdAt} />, changed <TimeAgo at={webhook.updatedAt} />
      </Fact>
    </FramedFacts>
  )
}
