import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { NumberedEvent, WebhookDelivery, WebhookDeliveryDetail } from '@trellis/contract'
import { useState } from 'react'
import { tailPath } from '../../api/client.ts'
import { pages, refresh } from '../../api/queries.ts'
import { useTail } from '../../api/tails.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Notice } from '../../ui/Notice.tsx'
import { Section } from '../../ui/Page.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { Tabs } from '../../ui/Tabs.tsx'
import { Duration, TimeAgo, TimeUntil } from '../../ui/TimeAgo.tsx'
import { OutcomeChart } from './OutcomeChart.tsx'
import styles from './Webhooks.module.css'
import { answerInWords, OUTCOMES } from './words.ts'

type Wanted = WebhookDelivery['status'] | 'all'

const FILTERS: readonly { value: Wanted; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'pending', label: 'Pending' },
  { value: 'success', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
  { value: 'dropped', label: 'Dropped' },
]

/** How often what is pending is looked at again. */
const LOOK_EVERY_MS = 1_500

/** What became of each delivery of a webhook, the newest first, as it happens. */
export function Deliveries({ webhook }: { webhook: string }) {
  const { org, name } = useRepo()
  const { status } = useSearch({ strict: false }) as { status?: WebhookDelivery['status'] }
  const navigate = useNavigate()
  const list = useInfiniteQuery({
    ...pages(org, (api) => api.webhooks.deliveries.list, {
      name,
      webhook,
      limit: 100,
      ...(status && { status }),
    }),
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.items.some((one) => one.status === 'pending') ? LOOK_EVERY_MS : false,
  })
  const fresh = useFresh(org, name, webhook)
  const items = (list.data?.pages ?? []).flatMap(({ items }) => items)
  return (
    <Section
      title="Deliveries"
      actions={
        <Tabs
          label="Which deliveries"
          value={status ?? 'all'}
          options={FILTERS}
          onChoose={(next) =>
            void navigate({
              to: '/o/$org/$repo/webhooks/$webhook',
              params: { org, repo: name, webhook },
              search: next === 'all' ? {} : { status: next },
            })
          }
        />
      }
    >
      {fresh.isAny && (
        <Notice>
          There are new deliveries.
          <Button small onClick={fresh.show}>
            Show
          </Button>
        </Notice>
      )}
      {list.isPending ? (
        <Skeleton />
      ) : items.length === 0 ? (
        <p className={styles.quiet}>
          {status ? `No delivery is ${OUTCOMES[status].word}.` : 'Nothing has happened yet that it hears of.'}
        </p>
      ) : (
        <>
          {!status && <OutcomeChart deliveries={items} />}
          <Table
            label="Deliveries"
            columns={['Outcome', 'Event', { head: 'Answer', kind: 'wide' }, 'Attempts', 'Took', 'When']}
          >
            {items.map((delivery) => (
              <Row key={delivery.id} webhook={webhook} delivery={delivery} />
            ))}
          </Table>
          <Pager
            hasMore={list.hasNextPage}
            isReading={list.isFetchingNextPage}
            readMore={() => void list.fetchNextPage()}
          />
        </>
      )}
    </Section>
  )
}

/** Every event of the repository may be delivered. Whoever has scrolled down is told, instead of losing their place. */
function useFresh(org: string, name: string, webhook: string) {
  const [isAny, setAny] = useState(false)
  const show = () => {
    setAny(false)
    void refresh(org, 'webhooks/deliveries/')
  }
  useTail(tailPath(org, 'events/tail', { name }), ({ type, subject }: NumberedEvent) => {
    if (type === 'webhook.deleted' && subject === webhook) return
    if (window.scrollY < 200) show()
    else setAny(true)
  })
  return { isAny, show }
}

function Row({ webhook, delivery }: { webhook: string; delivery: WebhookDeliveryDetail }) {
  const { org, name } = useRepo()
  const outcome = OUTCOMES[delivery.status]
  return (
    <tr>
      <td>
        <Status kind={outcome.kind}>{outcome.word}</Status>
      </td>
      <td className={styles.event}>
        <Link
          to="/o/$org/$repo/webhooks/$webhook/deliveries/$delivery"
          params={{ org, repo: name, webhook, delivery: delivery.id }}
        >
          {delivery.eventType}
        </Link>{' '}
        <span className={styles.subject}>{delivery.subject}</span>
      </td>
      <td>
        {answerInWords(delivery)}
        {delivery.nextAttemptAt !== null && delivery.attempt > 0 && (
          <span className={styles.quiet}>
            , again <TimeUntil at={delivery.nextAttemptAt} />
          </span>
        )}
      </td>
      <td>{delivery.attempt}</td>
      <td className={styles.quiet}>
        {delivery.durationMs !== null && <Duration ms={delivery.durationMs} />}
      </td>
      <td className={styles.meta}>
        <TimeAgo at={delivery.createdAt} />
      </td>
    </tr>
  )
}
