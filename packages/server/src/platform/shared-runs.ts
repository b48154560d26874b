/**
 * For work on something that does whatever had been asked for when it began, like a sync of a file. One that is under way
 * may have missed what was asked since, so those who come then share the next.
 */
export function createSharedRuns<Key>(run: (key: Key) => Promise<void>): (key: Key) => Promise<void> {
  const next = new Map<Key, Promise<void>>()
  const underWay = new Map<Key, Promise<void>>()

  function start(key: Key): Promise<void> {
    next.delete(key)
    const started = run(key).finally(() => {
      if (underWay.get(key) === started) underWay.delete(key)
    })
    underWay.set(key, started)
    return started
  }

  return (key) => {
    const last = underWay.get(key)
    if (!last) return start(key)
    const shared = next.get(key) ?? last.then(ignore, ignore).then(() => start(key))
    next.set(key, shared)
    return shared
  }
}

const ignore = () => undefined
