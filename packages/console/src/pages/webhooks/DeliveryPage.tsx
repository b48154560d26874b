import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { WebhookDeliveryDetail } from '@trellis/contract'
import { query, useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Code } from '../../ui/Code.tsx'
import { Fact, FramedFacts } from '../../ui/Facts.tsx'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { Status } from '../../ui/Status.tsx'
import { Duration, TimeAgo, TimeUntil } from '../../ui/TimeAgo.tsx'
import styles from './Webhooks.module.css'
import { answerInWords, OUTCOMES } from './words.ts'

const LOOK_EVERY_MS = 1_500
/** So much of a body is kept to be looked at. */
const SHOWN_CHARACTERS = 4_096

/** One delivery: what was sent, and what came back. */
export function DeliveryPage() {
  const { org, name, api } = useRepo()
  const { webhook = '', delivery: deliveryId = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const { data: delivery } = useSuspenseQuery({
    ...query(org, (api) => api.webhooks.deliveries.get, { name, deliveryId }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? LOOK_EVERY_MS : false),
  })
  const { data: target } = useSuspenseQuery(query(org, (api) => api.webhooks.get, { name, webhook }))
  const redeliver = useAction(() => api.webhooks.redeliver({ name, deliveryId }), {
    done: 'Delivering again',
    changes: { org, paths: ['webhooks/deliveries/list'] },
    onDone: ({ id }) =>
      void navigate({
        to: '/o/$org/$repo/webhooks/$webhook/deliveries/$delivery',
        params: { org, repo: name, webhook, delivery: id },
      }),
  })
  const outcome = OUTCOMES[delivery.status]
  return (
    <Page title={`${delivery.eventType} · ${webhook} · ${org}/${name}`}>
      <PageHeader
        title={
          <>
            {delivery.eventType} <span className={styles.subject}>{delivery.subject}</span>
          </>
        }
        about={
          <Link to="/o/$org/$repo/webhooks/$webhook" params={{ org, repo: name, webhook }}>
            All deliveries of {webhook}
          </Link>
        }
      >
        <Button
          disabled={delivery.status === 'pending'}
          title={delivery.status === 'pending' ? 'It is still being delivered' : undefined}
          busy={redeliver.busy}
          onClick={() => redeliver.run(undefined)}
        >
          Deliver again
        </Button>
      </PageHeader>
      <ActionProblem of={redeliver} />
      <FramedFacts>
        <Fact name="Outcome">
          <span className={styles.outcome}>
            <Status kind={outcome.kind}>{outcome.word}</Status> <span>{answerInWords(delivery)}</span>
          </span>
        </Fact>
        <Fact name="Attempts">
          {delivery.attempt === 0 ? 'none yet' : delivery.attempt}
          {delivery.nextAttemptAt !== null && (
            <>
              , the next one <TimeUntil at={delivery.nextAttemptAt} />
            </>
          )}
          {delivery.durationMs !== null && (
            <>
              {' '}
              · the last took <Duration ms={delivery.durationMs} />
            </>
          )}
        </Fact>
        <Fact name="Made">
          <TimeAgo at={delivery.createdAt} />
          {delivery.deliveredAt !== null && (
            <>
              , delivered <TimeAgo at={delivery.deliveredAt} />
            </>
          )}
        </Fact>
      </FramedFacts>
      <Request delivery={delivery} url={target.url} contentType={String(target.contentType)} />
      <Answer delivery={delivery} />
    </Page>
  )
}

interface RequestProps {
  delivery: WebhookDeliveryDetail
  url: string
  contentType: string
}

function Request({ delivery, url, contentType }: RequestProps) {
  const headers = [
    ['content-type', contentType],
    ['webhook-id', delivery.id],
    ['webhook-timestamp', 'when the attempt was made, in seconds'],
    ['webhook-signature', 'v1,… of id, timestamp and body, with each secret that signs'],
  ]
  return (
    <Section title="Request">
      <p className={styles.line}>
        <strong>POST</strong> <code>{url}</code>
      </p>
      <dl className={styles.headers}>
        {headers.map(([header, value]) => (
          <div key={header}>
            <dt>{header}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Body text={delivery.requestBodyTruncated} label="The body of the request" />
      <p className={styles.hint}>
        Digest of the whole body: <code>{delivery.requestBodyDigest}</code>
      </p>
    </Section>
  )
}

const Answer = ({ delivery }: { delivery: WebhookDeliveryDetail }) => (
  <Section title="Answer">
    {delivery.responseStatus !== null && (
      <p className={styles.line}>
        <strong>{delivery.responseStatus}</strong>
        {delivery.durationMs !== null && (
          <>
            {' '}
            after <Duration ms={delivery.durationMs} />
          </>
        )}
      </p>
    )}
    {delivery.error && <p>There was none: {delivery.error}.</p>}
    {delivery.responseBodyTruncated ? (
      <Body text={delivery.responseBodyTruncated} label="The body of the answer" />
    ) : (
      <p className={styles.quiet}>
        {delivery.responseStatus !== null
          ? 'Its body was empty.'
          : delivery.attempt === 0 && !delivery.error
            ? 'No attempt has been made yet.'
            : ''}
      </p>
    )}
  </Section>
)

const Body = ({ text, label }: { text: string; label: string }) => (
  <>
    <Code label={label}>{readable(text)}</Code>
    {text.length >= SHOWN_CHARACTERS && (
      <p className={styles.hint}>Only the first 4,096 characters are kept to be looked at.</p>
    )}
  </>
)

/** JSON with its structure to be seen; anything else, or what was cut, as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
