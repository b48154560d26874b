import { useEffect, useEffectEvent, useState } from 'react'

type TailState = 'connecting' | 'live' | 'ended'

/**
 * Follows a log as it grows: `useTail(tailPath(org, 'events/tail', { name }), (event: NumberedEvent) => …)`. Comes again
 * by itself when the connection is lost, where it was. Pass undefined to follow nothing.
 */
export function useTail<Event>(path: string | undefined, onEvent: (event: Event) => void): TailState {
  const [state, setState] = useState<TailState>('connecting')
  const take = useEffectEvent(onEvent)

  useEffect(() => {
    if (!path) return
    const source = new EventSource(path)
    source.onopen = () => setState('live')
    source.onmessage = ({ data }: MessageEvent<string>) => take(JSON.parse(data) as Event)
    // The browser tries again by itself, unless it was told that there is no more.
    source.onerror = () => setState(source.readyState === EventSource.CLOSED ? 'ended' : 'connecting')
    return () => source.close()
  }, [path])

  return state
}
