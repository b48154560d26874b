interface Bounds<Value> {
  maxEntries: number
  /** What an entry costs, and how much all of them may together. */
  weight?: { of(value: Value): number; max: number }
  /** Told of whatever is in it no more. */
  onForget?(value: Value): void
}

interface Entry<Value> {
  value: Value
  /** Which placement put it where it is. */
  placed: number
}

/** A map that forgets what has not been asked for or set for the longest time. */
export function createRecent<Key, Value>({ maxEntries, weight, onForget }: Bounds<Value>) {
  /** The least recently used comes first. */
  const entries = new Map<Key, Entry<Value>>()
  /** One for all: a new one would step over every place that is empty at the front, as many as there are entries. */
  const oldestFirst = entries.keys()
  let placements = 0
  let weighed = 0

  function place(key: Key, value: Value): void {
    entries.delete(key)
    entries.set(key, { value, placed: ++placements })
  }

  function forget(key: Key): void {
    const entry = entries.get(key)
    if (!entry) return
    if (weight) weighed -= weight.of(entry.value)
    entries.delete(key)
    onForget?.(entry.value)
  }

  /** False when there is nothing. */
  function forgetOldest(): boolean {
    // At its end it would never give anything again.
    if (entries.size === 0) return false
    const { value: oldest, done } = oldestFirst.next()
    if (done) return false
    forget(oldest)
    return true
  }

  /** Before that, nothing is forgotten soon. */
  const isHalfFull = () =>
    entries.size * 2 >= maxEntries || (weight !== undefined && weighed * 2 >= weight.max)

  return {
    get(key: Key): Value | undefined {
      const entry = entries.get(key)
      if (!entry) return undefined
      // To place it anew at every request would cost more than to find it. Among the younger half it is safe where it is.
      if (isHalfFull() && placements - entry.placed >= entries.size / 2) place(key, entry.value)
      return entry.value
    },

    /** What is too heavy to be kept at all costs no other its place. The value must not change its weight later. */
    set(key: Key, value: Value): void {
      forget(key)
      const added = weight?.of(value) ?? 0
      if (weight && added > weight.max) return
      place(key, value)
      weighed += added
      while (entries.size > maxEntries || (weight && weighed > weight.max)) if (!forgetOldest()) return
    },

    forget,
    forgetOldest,

    /** What all entries weigh. */
    get weight(): number {
      return weighed
    },

    clear(): void {
      entries.clear()
      weighed = 0
    },
  }
}
