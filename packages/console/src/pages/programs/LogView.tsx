import { useVirtualizer } from '@tanstack/react-virtual'
import {
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { useShortcut } from '../../keys/shortcuts.ts'
import { Button } from '../../ui/Button.tsx'
import { Input, Select } from '../../ui/Field.tsx'
import { reachable } from '../../ui/reachable.ts'
import styles from './LogView.module.css'
import { WithPlaces } from './links.tsx'
import { chosenLines, LEVELS, type Level, type Line, type RunLog } from './run-log.ts'

const ROW_PX = 20
/** So near is at the end. */
const NEAR_PX = 40

const oneRow = () => ROW_PX

interface LogViewProps {
  log: RunLog
  /** When the run was made: times are told from there. */
  from: number
  isLive: boolean
  /** Where files of a stack are. */
  source: { org: string; repo: string; at: string | null }
}

/** The log of a run: any number of lines, of which those are drawn that can be seen. */
export function LogView({ log, from, isLive, source }: LogViewProps) {
  const count = useSyncExternalStore(log.subscribe, log.count)
  const [text, setText] = useState('')
  const [least, setLeast] = useState<Level>('debug')
  const [follows, setFollows] = useState(isLive)
  const frame = useRef<HTMLDivElement>(null)
  const find = useRef<HTMLInputElement>(null)
  /** Where it was scrolled to: whoever scrolls up does not want to be taken to the end again. */
  const top = useRef(0)
  const wanted = useDeferredValue(text)
  // Lines are only ever added: their number says whether there are others.
  const chosen = useMemo(
    () => count >= 0 && chosenLines(log.lines, { text: wanted, least }),
    [log, count, wanted, least],
  )
  const rows = chosen ? chosen.length : count
  const placeOf = useCallback((row: number) => (chosen ? (chosen[row] ?? 0) : row), [chosen])

  const virtual = useVirtualizer({
    count: rows,
    getScrollElement: () => frame.current,
    estimateSize: oneRow,
    overscan: 20,
    paddingStart: 8,
    paddingEnd: 8,
    getItemKey: placeOf,
  })

  useEffect(() => {
    if (follows && rows > 0) virtual.scrollToIndex(rows - 1, { align: 'end' })
  }, [follows, rows, virtual])
  useShortcut('/', 'Search in the log', () => find.current?.focus())

  return (
    <section className={styles.log} aria-label="Log">
      <div className={styles.bar}>
        <Input
          ref={find}
          type="search"
          aria-label="Search in the log"
          placeholder="Search in the log…"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Select aria-label="Level" value={least} onChange={(event) => setLeast(event.target.value as Level)}>
          {LEVELS.map((level) => (
            <option key={level} value={level}>
              {level === 'debug' ? 'All levels' : level === 'error' ? 'error' : `${level} and above`}
            </option>
          ))}
        </Select>
        <span className={styles.count}>
          {chosen
            ? `${rows.toLocaleString('en')} of ${count.toLocaleString('en')}`
            : count.toLocaleString('en')}{' '}
          {count === 1 ? 'line' : 'lines'}
        </span>
        <Button small kind="quiet" aria-pressed={follows} onClick={() => setFollows(!follows)}>
          {follows ? 'Following the end' : 'Follow the end'}
        </Button>
      </div>
      <div
        ref={frame}
        className={styles.frame}
        {...reachable}
        role="log"
        aria-live="off"
        aria-label="Lines"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          const isNearEnd = scrollHeight - scrollTop - clientHeight < NEAR_PX
          if (isNearEnd && isLive) setFollows(true)
          else if (!isNearEnd && scrollTop < top.current - NEAR_PX) setFollows(false)
          top.current = scrollTop
        }}
      >
        <div className={styles.lines} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const line = log.lines[placeOf(index)]
            return (
              line && (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  className={styles.row}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <LogLine line={line} from={from} source={source} />
                </div>
              )
            )
          })}
        </div>
      </div>
      {rows === 0 && <p className={styles.none}>{count > 0 ? 'No line is like that.' : 'Nothing yet.'}</p>}
    </section>
  )
}

/** Seconds since the run was made: `00.310`, `12:03.250`. */
function since(ms: number): string {
  const seconds = (Math.max(0, ms) % 60_000) / 1_000
  const minutes = Math.floor(Math.max(0, ms) / 60_000)
  const tail = seconds.toFixed(3).padStart(6, '0')
  if (minutes === 0) return tail
  const hours = Math.floor(minutes / 60)
  return `${hours > 0 ? `${hours}:${String(minutes % 60).padStart(2, '0')}` : minutes}:${tail}`
}

function LogLine({ line, from, source }: { line: Line; from: number; source: LogViewProps['source'] }) {
  const { kind, text, data, ts } = line
  return (
    <>
      <time
        className={styles.time}
        dateTime={new Date(ts).toISOString()}
        title={new Date(ts).toLocaleString()}
      >
        {since(ts - from)}
      </time>
      <span className={`${styles.level} ${styles[kind]}`}>{kind === 'state' ? '' : kind}</span>
      <span className={kind === 'state' ? styles.state : styles.text}>
        <WithPlaces {...source} text={text} />
        {data !== undefined && <span className={styles.data}> {JSON.stringify(data)}</span>}
      </span>
    </>
  )
}
