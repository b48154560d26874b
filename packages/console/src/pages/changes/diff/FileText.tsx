import { useQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { Problem } from '../../../ui/Problem.tsx'
import { Lines } from './Lines.tsx'
import { useNear } from './near.ts'
import { useReading } from './options.ts'
import { CONTEXT, type Hunk, parsePatch, type Range, rangeOf, widen } from './patch.ts'
import type { LineRange } from './places.ts'
import { toRows } from './rows.ts'
import { type Ends, type FileChange, fileQuery, WHOLE } from './use-diff.ts'
import { useTokens } from './use-tokens.ts'

interface FileTextProps {
  file: FileChange
  patch: string
  ends: Ends
  pointed: LineRange | undefined
}

/** The lines of a file that changed, and as many around them as somebody wants to see. */
export function FileText({ file, patch, ends, pointed }: FileTextProps) {
  const { wrap, ...reading } = useReading()
  const [asked, setAsked] = useState<readonly Range[]>([])
  const hunks = useMemo(() => parsePatch(patch), [patch])
  const hasGaps = !['added', 'deleted', 'type-changed'].includes(file.status)
  // What is new or gone has nothing to stand beside.
  const view = hasGaps ? reading.view : 'unified'
  // What an address points at may be between what is shown.
  const isHidden = hasGaps && pointed !== undefined && !isAmong(hunks, pointed)
  const whole = useQuery({
    ...fileQuery(ends, file.path, WHOLE),
    enabled: asked.length > 0 || isHidden,
    throwOnError: false,
  })
  const rows = useMemo(() => {
    const around = whole.data?.patch === undefined ? undefined : parsePatch(whole.data.patch)
    const last = around?.at(-1)
    if (!around || !last) return toRows(hunks, { view, hasGaps })
    const sought = isHidden && pointed ? [{ from: pointed.from - CONTEXT, to: pointed.to + CONTEXT + 1 }] : []
    return toRows(widen(hunks, around, [...asked, ...sought]), { view, hasGaps, end: rangeOf(last).to })
  }, [hunks, whole.data, asked, view, hasGaps, isHidden, pointed])
  const frame = useRef<HTMLDivElement>(null)
  const { isNear } = useNear(frame)
  const tokens = useTokens(file.path, rows, isNear)
  return (
    <div ref={frame}>
      <Lines
        key={`${view} ${wrap}`}
        path={file.path}
        rows={rows}
        view={view}
        wrap={wrap}
        tokens={tokens}
        pointed={pointed}
        onExpand={(range) => setAsked([...asked, range])}
      />
      {whole.error && <Problem error={whole.error} onRetry={() => void whole.refetch()} />}
    </div>
  )
}

const isAmong = (hunks: readonly Hunk[], { side, from }: LineRange): boolean =>
  hunks.some(({ lines }) => lines.some((line) => (side === 'L' ? line.before : line.after) === from))
