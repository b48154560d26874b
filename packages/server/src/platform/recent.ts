interface Bounds<Value> {
  maxEntries: number
  /** What an entry costs, and how much all of them may together. */
  weight?: { of(value: Value): number; max: number }
}

/** A map that forgets what has not been asked for or set for the longest time. */
export function createRecent<Key, Value>({ maxEntries, weight }: Bounds<Value>) {
  /** The least recently used comes first. */
  const entries = new Map<Key, Value>()
  let weighed = 0

  function forget(key: Key): void {
    const value = entries.get(key)
    if (value !== undefined && weight) weighed -= weight.of(value)
    entries.delete(key)
  }

  return {
    get(key: Key): Value | undefined {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },

    /** What is too heavy to be kept at all costs no other its place. The value must not change its weight later. */
    set(key: Key, value: Value): void {
      forget(key)
      const added = weight?.of(value) ?? 0
      if (weight && added > weight.max) return
      entries.set(key, value)
      weighed += added
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && (!weight || weighed <= weight.max)) return
        forget(oldest)
      }
    },

    clear(): void {
      entries.clear()
      weighed = 0
    },
  }
}
