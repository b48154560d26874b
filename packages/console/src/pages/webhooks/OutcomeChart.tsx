import type { WebhookDelivery } from '@trellis/contract'
import { Chart } from '../../ui/Chart.tsx'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const SERIES = [
  { name: 'delivered', tone: 'good' },
  { name: 'failed', tone: 'bad' },
  { name: 'pending', tone: 'busy' },
  { name: 'dropped', tone: 'waiting' },
] as const
const STATUSES: WebhookDelivery['status'][] = ['success', 'failed', 'pending', 'dropped']
const MOST_BARS = 48

const hour = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' })

/** How deliveries ended, by hour, or by day where they go back further. Of those that have been read. */
export function OutcomeChart({ deliveries }: { deliveries: readonly WebhookDelivery[] }) {
  const now = Date.now()
  const oldest = deliveries.at(-1)?.createdAt ?? now
  const isShort = now - oldest < 2 * DAY
  const step = isShort ? HOUR : DAY
  const count = isShort ? 24 : Math.min(MOST_BARS, Math.max(14, Math.ceil((now - oldest) / DAY) + 1))
  const bars = Array.from({ length: count }, (_, i) => {
    const start = Math.floor(now / step) * step - (count - 1 - i) * step
    const inside = deliveries.filter(({ createdAt }) => createdAt >= start && createdAt < start + step)
    return {
      label: (isShort ? hour : day).format(start),
      values: STATUSES.map((status) => inside.filter((one) => one.status === status).length),
    }
  })
  const unit = isShort ? 'hour, the last day' : `day, the last ${count} days`
  return <Chart label={`Deliveries by ${unit}, by outcome`} series={SERIES} bars={bars} />
}
