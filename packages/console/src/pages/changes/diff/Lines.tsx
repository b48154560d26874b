import { type UIEvent, useMemo, useRef } from 'react'
import { Icon } from '../../../ui/Icon.tsx'
import { Blocks } from './Blocks.tsx'
import styles from './Diff.module.css'
import type { Line } from './patch.ts'
import { hrefOf, type LineRange, useLineLinks, writePlace } from './places.ts'
import { type Cell, type Gap, nextOf, type Row, rowOf, type View, widthOf } from './rows.ts'
import { Text } from './Text.tsx'
import type { Tokens } from './use-tokens.ts'

interface LinesProps {
  path: string
  rows: readonly Row[]
  view: View
  wrap: boolean
  tokens: Tokens
  pointed: LineRange | undefined
  onExpand: (range: { from: number; to: number }) => void
}

type Side = 'L' | 'R'

/** The lines of a file: one below the other, or what was beside what is. */
export function Lines(props: LinesProps) {
  const { path, rows, view, wrap, pointed } = props
  const onClick = useLineLinks(path, pointed)
  const columns = useMemo(() => widthOf(rows) + 2, [rows])
  const target = pointed ? rowOf(rows, { side: pointed.side, line: pointed.from }) : undefined
  const sides: Sides[] = view === 'unified' ? ['line'] : wrap ? ['pair'] : ['L', 'R']
  const frames = useRef<(HTMLElement | null)[]>([])
  // What stands side by side is scrolled together.
  const together = ({ currentTarget }: UIEvent<HTMLElement>) => {
    for (const frame of frames.current)
      if (frame && frame !== currentTarget) frame.scrollLeft = currentTarget.scrollLeft
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: for the links in it.
    <div
      className={`${styles.lines} ${wrap ? styles.wrapped : ''}`}
      style={{ '--columns': columns } as object}
      onClick={onClick}
    >
      {sides.map((side, i) => (
        <section
          key={side}
          ref={(element) => {
            frames.current[i] = element
          }}
          className={styles.frame}
          aria-label={`${NAMES[side]} ${path}`}
          tabIndex={wrap ? undefined : 0}
          onScroll={sides.length > 1 ? together : undefined}
        >
          <Blocks rows={rows} target={target}>
            {(row, index) => <RowView key={index} row={row} shown={side} {...props} />}
          </Blocks>
        </section>
      ))}
    </div>
  )
}

type Sides = 'line' | 'pair' | Side
const NAMES: Record<Sides, string> = { line: 'Changes in', pair: 'Changes in', L: 'Before:', R: 'After:' }

function RowView({ row, shown, ...props }: LinesProps & { row: Row; shown: Sides }) {
  if (row.kind === 'gap') return <GapRow gap={row.gap} isMute={shown === 'R'} onExpand={props.onExpand} />
  if (row.kind === 'line') return <Unified cell={row.cell} {...props} />
  if (shown === 'pair')
    return (
      <div className={styles.pair}>
        <Half side="L" cell={row.before} {...props} />
        <Half side="R" cell={row.after} {...props} />
      </div>
    )
  return shown === 'L' ? (
    <Half side="L" cell={row.before} {...props} />
  ) : (
    <Half side="R" cell={row.after} {...props} />
  )
}

function Unified({ cell: { line, mark }, path, pointed, tokens }: LinesProps & { cell: Cell }) {
  const isChosen = isIn(pointed, 'L', line) || isIn(pointed, 'R', line)
  return (
    <div className={`${styles.row} ${styles.unified} ${styles[line.kind]} ${isChosen ? styles.chosen : ''}`}>
      <LineNumber path={path} side="L" line={line.before} />
      <LineNumber path={path} side="R" line={line.after} />
      <Text line={line} mark={mark} colours={tokens(line)} />
    </div>
  )
}

function Half({ side, cell, path, pointed, tokens }: LinesProps & { side: Side; cell: Cell | undefined }) {
  if (!cell) return <div className={`${styles.row} ${styles.half} ${styles.nothing}`} />
  const { line, mark } = cell
  const chosen = isIn(pointed, side, line) ? styles.chosen : ''
  return (
    <div className={`${styles.row} ${styles.half} ${styles[line.kind]} ${chosen}`}>
      <LineNumber path={path} side={side} line={side === 'L' ? line.before : line.after} />
      <Text line={line} mark={mark} colours={tokens(line)} />
    </div>
  )
}

const numberOn = (side: Side, line: Line) => (side === 'L' ? line.before : line.after)

function isIn(pointed: LineRange | undefined, side: Side, line: Line): boolean {
  const number = numberOn(side, line)
  return pointed?.side === side && number !== undefined && number >= pointed.from && number <= pointed.to
}

/** Nobody copies it with the text: its style sees to that. */
function LineNumber({ path, side, line }: { path: string; side: Side; line: number | undefined }) {
  if (line === undefined) return <span className={styles.number} />
  return (
    <a
      className={styles.number}
      href={hrefOf(writePlace({ path, lines: { side, from: line, to: line } }))}
      data-side={side}
      data-line={line}
      // There are thousands of them.
      tabIndex={-1}
    >
      {line}
    </a>
  )
}

/** Lines that did not change and are not shown. */
function GapRow({ gap, isMute, onExpand }: { gap: Gap; isMute: boolean } & Pick<LinesProps, 'onExpand'>) {
  if (isMute) return <div className={styles.gap} />
  const count = gap.to === undefined ? undefined : gap.to - gap.from
  const isSmall = count !== undefined && count <= 40
  return (
    <div className={styles.gap}>
      {gap.from > 1 && !isSmall && (
        <button type="button" onClick={() => onExpand(nextOf(gap, 'above'))}>
          <Icon name="down" size={12} />
          Show 20 more lines
        </button>
      )}
      {gap.to !== undefined && (
        <button
          type="button"
          onClick={() => onExpand(isSmall ? { from: gap.from, to: gap.to as number } : nextOf(gap, 'below'))}
        >
          <Icon name="more" size={12} />
          {isSmall
            ? `Show ${count} hidden ${count === 1 ? 'line' : 'lines'}`
            : `Show 20 of ${count} lines above`}
        </button>
      )}
      {gap.heading && <code>{gap.heading}</code>}
    </div>
  )
}
