import { type RefObject, useEffect, useState } from 'react'

/** So far beyond the edges of the window something is drawn already. */
const AHEAD = '800px 0px'

type Tell = (entry: IntersectionObserverEntry) => void

const tells = new Map<Element, Tell>()
let observer: IntersectionObserver | undefined

/** One observer for all: there may be hundreds of parts. */
function watch(element: Element, tell: Tell): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const entry of entries) tells.get(entry.target)?.(entry)
    },
    { rootMargin: AHEAD },
  )
  tells.set(element, tell)
  observer.observe(element)
  return () => {
    tells.delete(element)
    observer?.unobserve(element)
  }
}

/** Whether something can be seen, or soon; and how tall it was when that was last found out. */
export function useNear(ref: RefObject<Element | null>): { isNear: boolean; height: number } {
  const [state, setState] = useState({ isNear: false, height: 0 })
  useEffect(
    () =>
      ref.current
        ? watch(ref.current, ({ isIntersecting, boundingClientRect }) =>
            // Most are told at first what they know: that they are far.
            setState((known) =>
              known.isNear === isIntersecting
                ? known
                : { isNear: isIntersecting, height: boundingClientRect.height },
            ),
          )
        : undefined,
    [ref],
  )
  return state
}
