import { useQuery } from '@tanstack/react-query'
import { query } from '../../api/queries.ts'
import { Chart } from '../../ui/Chart.tsx'
import styles from './Activity.module.css'

const DAY = 86_400_000
const DAYS = 30

const PUSHES = { types: ['git.push'], series: [{ name: 'pushes', tone: 'act' }] } as const
const RUNS = {
  types: ['run.succeeded', 'run.failed', 'run.cancelled'],
  series: [
    { name: 'succeeded', tone: 'good' },
    { name: 'failed', tone: 'bad' },
    { name: 'cancelled', tone: 'waiting' },
  ],
} as const

const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** How much was pushed and run on each of the last days. Nothing where nothing was. */
export function Charts({ org, repo }: { org: string; repo: string }) {
  const today = Math.floor(Date.now() / DAY) * DAY
  const { data } = useQuery(
    query(org, (api) => api.events.counts, {
      name: repo,
      types: [...PUSHES.types, ...RUNS.types],
      from: today - (DAYS - 1) * DAY,
      to: today + DAY - 1,
      bucket: 'day',
    }),
  )
  const shown = [
    { of: PUSHES, label: 'Pushes' },
    { of: RUNS, label: 'Runs' },
  ].map(({ of: { types, series }, label }) => ({
    label: `${label} a day, the last ${DAYS} days`,
    series,
    bars: (data?.items ?? []).map(({ start, counts }) => ({
      label: day.format(start),
      values: types.map((type) => counts[type] ?? 0),
    })),
  }))
  const some = shown.filter(({ bars }) => bars.some(({ values }) => values.some((value) => value > 0)))
  return some.length > 0 ? (
    <div className={styles.charts}>
      {some.map((chart) => (
        <Chart key={chart.label} {...chart} height={48} />
      ))}
    </div>
  ) : null
}
