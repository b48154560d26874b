import { memo } from 'react'
import coloured from '../../code/highlight/Coloured.module.css'
import { type Colours, KINDS } from '../../code/highlight/protocol.ts'
import styles from './Diff.module.css'
import type { Line } from './patch.ts'
import type { Mark } from './rows.ts'

interface TextProps {
  line: Line
  mark: Mark | undefined
  /** As far as they are known; the text is there before. */
  colours: Colours | undefined
}

export const Text = memo(function Text({ line, mark, colours }: TextProps) {
  return (
    <code className={styles.text}>
      {piecesOf(line.text, colours, mark).map(({ from, text, kind, isMarked }) => {
        const classes = [kind && coloured[kind], isMarked && styles.mark].filter(Boolean).join(' ')
        return classes ? (
          <span key={from} className={classes}>
            {text}
          </span>
        ) : (
          text
        )
      })}
      {line.unended && <span className={styles.unended} role="img" aria-label="no line break at the end" />}
    </code>
  )
})

interface Piece {
  from: number
  text: string
  kind: string | undefined
  isMarked: boolean
}

/** Where colours and the mark begin and end, the line is cut. */
function piecesOf(text: string, colours: Colours | undefined, mark: Mark | undefined): Piece[] {
  if (!colours && !mark) return [{ from: 0, text, kind: undefined, isMarked: false }]
  const pieces: Piece[] = []
  let from = 0
  const take = (length: number, kind: string | undefined) => {
    const end = Math.min(text.length, from + length)
    for (const cut of [mark?.from, mark?.to, end]) {
      if (cut === undefined || cut <= from || cut > end) continue
      const isMarked = mark !== undefined && from >= mark.from && from < mark.to
      pieces.push({ from, text: text.slice(from, cut), kind, isMarked })
      from = cut
    }
  }
  for (let i = 0; i + 1 < (colours?.length ?? 0); i += 2)
    take(colours?.[i] ?? 0, KINDS[colours?.[i + 1] ?? 0])
  take(text.length, undefined)
  return pieces
}
