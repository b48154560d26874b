import { useLocation, useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  type MouseEvent,
  memo,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { reachable } from '../../../ui/reachable.ts'
import { Coloured } from '../highlight/Coloured.tsx'
import { useColours } from '../highlight/client.ts'
import type { Colours } from '../highlight/protocol.ts'
import styles from './Lines.module.css'
import { readMarked, writeMarked } from './marks.ts'

const LINE_PX = 20
/** So many are drawn at once, and the browser's own search finds everything in them. */
const ALL_AT_ONCE = 1_000
/** What is longer is no line that anybody reads. */
const LONGEST = 5_000

interface LinesProps {
  label: string
  text: string
  language: string | undefined
  /** What stands before a line, such as who wrote it. */
  before?: (line: number) => ReactNode
}

/** The text of a file: lines that can be linked to, of which those are drawn that can be seen. */
export function Lines({ label, text, language, before }: LinesProps) {
  const { lines, longest } = useMemo(() => {
    const lines = linesOf(text)
    return { lines, longest: Math.min(LONGEST, longestOf(lines)) }
  }, [text])
  const coloursOf = useColours(text, language)
  const frame = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const rect = frame.current?.getBoundingClientRect()
    if (rect) setTop(rect.top + scrollY)
  }, [])
  const rows = useWindowVirtualizer({
    count: lines.length,
    estimateSize: () => LINE_PX,
    overscan: lines.length <= ALL_AT_ONCE ? lines.length : 60,
    scrollMargin: top,
  })
  const { marked, mark } = useMarked((line) => rows.scrollToIndex(line - 1, { align: 'center' }))
  const digits = String(lines.length).length
  const width = `calc(${longest}ch + ${digits}ch + 64px)`

  return (
    <section className={styles.frame} aria-label={label} {...reachable}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the numbers are links, and `l` asks for a line. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it listens for clicks on the numbers in it. */}
      <div
        ref={frame}
        className={before ? `${styles.lines} ${styles.explained}` : styles.lines}
        style={{ height: lines.length * LINE_PX, minWidth: width, '--digits': `${digits}ch` } as object}
        onClick={mark}
      >
        {rows.getVirtualItems().map(({ index }) => (
          <Line
            key={index}
            number={index + 1}
            text={lines[index] ?? ''}
            colours={coloursOf(index)}
            isMarked={marked !== undefined && index + 1 >= marked.from && index + 1 <= marked.to}
            before={before}
          />
        ))}
      </div>
    </section>
  )
}

interface LineProps {
  number: number
  text: string
  colours: Colours | undefined
  isMarked: boolean
  before: ((line: number) => ReactNode) | undefined
}

const Line = memo(({ number, text, colours, isMarked, before }: LineProps) => (
  <div
    className={isMarked ? `${styles.line} ${styles.marked}` : styles.line}
    data-line={number}
    data-marked={isMarked || undefined}
    style={{ transform: `translateY(${(number - 1) * LINE_PX}px)` }}
  >
    {before && <div className={styles.before}>{before(number)}</div>}
    <a className={styles.number} href={`#L${number}`} tabIndex={-1} aria-label={`Line ${number}`}>
      {number}
    </a>
    <code className={styles.text}>
      {text.length > LONGEST ? (
        `${text.slice(0, LONGEST)} … and ${text.length - LONGEST} more characters`
      ) : (
        <Coloured text={text} colours={colours} />
      )}
    </code>
  </div>
))

/** The lines the address points to, and how a click changes them. Comes to them when the address is new. */
function useMarked(show: (line: number) => void) {
  const hash = useLocation({ select: (location) => location.hash })
  const navigate = useNavigate()
  const marked = readMarked(hash)
  const clicked = useRef('')
  const first = marked?.from

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new address moves the page.
  useEffect(() => {
    if (first === undefined || clicked.current === hash) return
    // After the page has been put to where it was or begins.
    const frame = requestAnimationFrame(() => show(first))
    return () => cancelAnimationFrame(frame)
  }, [hash])

  function mark(event: MouseEvent): void {
    const link = (event.target as HTMLElement).closest<HTMLAnchorElement>(`a.${styles.number}`)
    if (!link || event.metaKey || event.ctrlKey) return
    event.preventDefault()
    const line = Number(link.textContent)
    const from = event.shiftKey && marked ? marked.from : line
    clicked.current = writeMarked({ from: Math.min(from, line), to: Math.max(from, line) })
    void navigate({
      to: '.',
      hash: clicked.current,
      search: true,
      replace: true,
      resetScroll: false,
      hashScrollIntoView: false,
    })
  }

  return { marked, mark }
}

/** Without the empty one behind the end of the last. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines
}

function longestOf(lines: string[]): number {
  let longest = 0
  for (const line of lines) {
    const tabs = line.includes('\t') ? line.split('\t').length - 1 : 0
    longest = Math.max(longest, line.length + tabs * 3)
  }
  return longest
}
