import type { NumberedEvent } from '@trellis/contract'
import { useEffect, useEffectEvent, useState } from 'react'
import { tailPath, trellis } from '../../api/client.ts'
import { queryClient } from '../../api/queries.ts'
import { useTail } from '../../api/tails.ts'

interface Followed {
  org: string
  repo: string | undefined
  types: string[] | undefined
  /** The number of the newest event that is shown; undefined while nothing is. */
  newest: number | undefined
  isWanted: (event: NumberedEvent) => boolean
}

/** How many events have come that are not shown yet. */
export function useFresh({ org, repo, types, newest, isWanted }: Followed) {
  const [fresh, setFresh] = useState<ReadonlyMap<string, number>>(new Map())
  const note = (events: readonly NumberedEvent[]) =>
    setFresh(
      (known) => new Map([...known, ...events.filter(isWanted).map(({ id, seq }) => [id, seq] as const)]),
    )
  const state = useTail(tailPath(org, 'events/tail', repo ? { name: repo } : {}), (event: NumberedEvent) =>
    note([event]),
  )

  /** What came after the log was read, and before it was followed. */
  const catchUp = useEffectEvent(async (since: number) => {
    const asked = { since, limit: 250, ...(repo && { name: repo }), ...(types && { types }) }
    // The log is there without it.
    const missed = await trellis(org)
      .events.list(asked)
      .catch(() => undefined)
    note(missed?.items ?? [])
  })
  const isKnown = newest !== undefined
  useEffect(() => {
    if (state === 'live' && isKnown) void catchUp(newest)
  }, [state, isKnown, newest])

  return {
    count: [...fresh.values()].filter((seq) => seq > (newest ?? 0)).length,
    show: () => {
      setFresh(new Map())
      window.scrollTo({ top: 0 })
      // From its beginning: what was read further down is asked for again when it is reached.
      void queryClient.resetQueries({
        predicate: ({ queryKey: [of, path] }) => of === org && path === 'events/list',
      })
    },
  }
}
