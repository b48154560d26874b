import styles from './Chart.module.css'

interface ChartProps {
  /** What it shows, in words: `Pushes a day, the last 30 days`. */
  label: string
  /** What a bar is made of, from its foot up. */
  series: readonly { name: string; tone: 'act' | 'good' | 'bad' | 'busy' | 'waiting' }[]
  /** From left to right; `values` in the order of the series. */
  bars: readonly { label: string; values: readonly number[] }[]
  height?: number
}

const BAR = 10
const GAP = 2

/** Small stacked bars: how much when. The numbers are in a table for those who listen, and under the pointer. */
export function Chart({ label, series, bars, height = 64 }: ChartProps) {
  const totals = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const most = Math.max(1, ...totals)
  const width = bars.length * (BAR + GAP) - GAP
  return (
    <figure className={styles.chart}>
      <svg viewBox={`0 0 ${width} ${height}`} height={height} preserveAspectRatio="none" aria-hidden="true">
        {bars.map((bar, column) => (
          <g key={bar.label} transform={`translate(${column * (BAR + GAP)} 0)`}>
            <title>{`${bar.label}: ${series.map(({ name }, i) => `${bar.values[i] ?? 0} ${name}`).join(', ')}`}</title>
            <rect className={styles.ground} y={height - 1} width={BAR} height={1} />
            <Stack values={bar.values} series={series} unit={height / most} height={height} />
          </g>
        ))}
      </svg>
      <figcaption>
        {label}
        <span className={styles.most}>most: {most}</span>
      </figcaption>
      <table className="heard">
        <caption>{label}</caption>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.label}>
              <th scope="row">{bar.label}</th>
              {series.map(({ name }, i) => (
                <td key={name}>{`${bar.values[i] ?? 0} ${name}`}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

interface StackProps extends Pick<ChartProps, 'series'> {
  values: readonly number[]
  unit: number
  height: number
}

function Stack({ values, series, unit, height }: StackProps) {
  let foot = height
  return series.map(({ name, tone }, i) => {
    const size = (values[i] ?? 0) * unit
    foot -= size
    return size > 0 && <rect key={name} className={styles[tone]} y={foot} width={BAR} height={size} />
  })
}
