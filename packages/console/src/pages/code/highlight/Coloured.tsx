import type { ReactNode } from 'react'
import styles from './Coloured.module.css'
import { type Colours, KINDS } from './protocol.ts'

/** A line in its colours, or as it is while none are known. */
export function Coloured({ text, colours }: { text: string; colours: Colours | undefined }): ReactNode {
  if (!colours) return text
  const pieces: ReactNode[] = []
  let at = 0
  for (let i = 0; i < colours.length; i += 2) {
    const piece = text.slice(at, at + (colours[i] ?? 0))
    const kind = KINDS[colours[i + 1] ?? 0] ?? 'plain'
    pieces.push(
      kind === 'plain' ? (
        piece
      ) : (
        <span key={at} className={styles[kind]}>
          {piece}
        </span>
      ),
    )
    at += piece.length
  }
  pieces.push(text.slice(at))
  return pieces
}
