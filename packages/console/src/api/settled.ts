import { useEffect, useState } from 'react'

/** Nobody writes letters further apart in one word. */
const SETTLE_MS = 120

/** What somebody writes, once they pause: the server is not asked for every letter on the way. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
