import { after, before } from 'node:test'

/**
 * Something that the tests of a suite use together. `start` makes it before the first of them; what `start` put on the
 * stack goes after the last of them, also when it failed half-way. The suite can name it at once, and use it from then
 * on: in a later `before` of the same `describe`, too. (Outside of any, node does not wait for one `before` with the next.)
 */
export function useInSuite<T extends object>(start: (made: AsyncDisposableStack) => Promise<T>): T {
  const made = new AsyncDisposableStack()
  let started: T | undefined
  before(async () => {
    started = await start(made)
  })
  after(async () => {
    started = undefined
    await made.disposeAsync()
  })
  const there = (): T => {
    if (!started) throw new Error('This is there when the tests of the suite run, not before')
    return started
  }
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(there(), name),
    set: (_, name, value) => Reflect.set(there(), name, value),
  })
}
