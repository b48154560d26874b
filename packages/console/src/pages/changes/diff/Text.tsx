import { memo } from 'react'
import styles from './Diff.module.css'
import type { Line } from './patch.ts'
import type { Mark } from './rows.ts'

/** A piece of a line and what it is, such as a keyword. */
export interface Token {
  length: number
  kind: string | undefined
}

/** What is known of lines so far; the text is there before. */
export type Tokens = ReadonlyMap<Line, readonly Token[]>

interface TextProps {
  line: Line
  mark: Mark | undefined
  tokens: Tokens
}

export const Text = memo(function Text({ line, mark, tokens }: TextProps) {
  const pieces = piecesOf(line.text, tokens.get(line), mark)
  return (
    <code className={styles.text}>
      {pieces.map(({ from, text, kind, isMarked }) => {
        const classes = [kind && (styles[kind] ?? ''), isMarked && styles.mark].filter(Boolean).join(' ')
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

/** Where tokens and the mark begin and end, the line is cut. */
function piecesOf(text: string, tokens: readonly Token[] | undefined, mark: Mark | undefined): Piece[] {
  if (!tokens && !mark) return [{ from: 0, text, kind: undefined, isMarked: false }]
  const pieces: Piece[] = []
  let from = 0
  for (const { length, kind } of tokens ?? [{ length: text.length, kind: undefined }]) {
    const end = from + length
    for (const cut of [mark?.from, mark?.to, end]) {
      if (cut === undefined || cut <= from || cut > end) continue
      const isMarked = mark !== undefined && from >= mark.from && from < mark.to
      pieces.push({ from, text: text.slice(from, cut), kind, isMarked })
      from = cut
    }
  }
  return pieces
}
