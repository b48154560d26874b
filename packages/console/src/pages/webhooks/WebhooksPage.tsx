import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Webhook, WebhookDeliveryDetail } from '@trellis/contract'
import { query, useList } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { AdminsOnly } from './AdminsOnly.tsx'
import styles from './Webhooks.module.css'
import { answerInWords, OUTCOMES, reasonsIn, stateOf, subscriptionInWords } from './words.ts'

/** Where events of a repository are delivered to. */
export function WebhooksPage() {
  const { org, name, repo } = useRepo()
  return (
    <Page title={`Webhooks · ${org}/${name}`}>
      <PageHeader
        title="Webhooks"
        about="Each delivers events of this repository to a URL, signed, and tries again for more than a day."
      >
        {repo.canAdmin && (
          <LinkButton kind="first" icon="plus" to="/o/$org/$repo/webhooks/-/new" params={{ org, repo: name }}>
            New webhook
          </LinkButton>
        )}
      </PageHeader>
      {repo.canAdmin ? <Webhooks /> : <AdminsOnly />}
    </Page>
  )
}

function Webhooks() {
  const { org, name } = useRepo()
  const list = useList(org, (api) => api.webhooks.list, { name, limit: 100 })
  const lately = useQuery(query(org, (api) => api.webhooks.deliveries.list, { name, limit: 100 }))
  const isAnyOff = list.items.some(({ active }) => !active)
  const disabled = useQuery({
    ...query(org, (api) => api.events.list, {
      name,
      types: ['webhook.disabled'],
      order: 'newest',
      limit: 100,
    }),
    enabled: isAnyOff,
  })
  if (list.isPending) return <Skeleton />
  if (list.items.length === 0) return <NoWebhooks />
  const reasons = reasonsIn(disabled.data?.items ?? [])
  return (
    <>
      <Table label="Webhooks" columns={['Name', 'Hears of', 'State', 'Last delivery']}>
        {list.items.map((webhook) => (
          <Row
            key={webhook.name}
            webhook={webhook}
            reason={reasons.get(webhook.name)}
            last={lately.data?.items.find(({ webhookId }) => webhookId === webhook.id)}
          />
        ))}
      </Table>
      <Pager {...list} />
    </>
  )
}

interface RowProps {
  webhook: Webhook
  reason: string | undefined
  last: WebhookDeliveryDetail | undefined
}

function Row({ webhook, reason, last }: RowProps) {
  const { org, name } = useRepo()
  const state = stateOf(webhook)
  const outcome = last && OUTCOMES[last.status]
  return (
    <tr>
      <td className={styles.place}>
        <Link
          to="/o/$org/$repo/webhooks/$webhook"
          params={{ org, repo: name, webhook: webhook.name }}
          className={styles.name}
        >
          {webhook.name}
        </Link>
        <span className={styles.url}>{webhook.url}</span>
      </td>
      <td>{subscriptionInWords(webhook.on)}</td>
      <td>
        <Status kind={state.kind}>{state.word}</Status>
        {!webhook.active && reason && <span className={styles.why}>{reason}</span>}
        {webhook.status === 'orphaned' && (
          <span className={styles.why}>The canonical commit no longer declares it.</span>
        )}
      </td>
      <td>
        {last && outcome ? (
          <>
            <Status kind={outcome.kind}>{outcome.word}</Status>
            <span className={styles.why}>
              {answerInWords(last)}, <TimeAgo at={last.createdAt} />
            </span>
          </>
        ) : (
          <span className={styles.quiet}>none lately</span>
        )}
      </td>
    </tr>
  )
}

const NoWebhooks = () => (
  <EmptyState title="No webhook yet">
    <p>
      A webhook tells another program what happens here: a build server of pushes, a chat of failed runs. Its
      receiver answers with 2xx, and checks the signature with the secret that is shown once when you make it.
    </p>
    <p>
      A repository can also declare them in its own files, in <code>webhooks/name/webhook.json</code>, and
      with a module that makes the body.
    </p>
  </EmptyState>
)
