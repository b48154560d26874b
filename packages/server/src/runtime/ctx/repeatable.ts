// In a workflow the code between steps is run again from its beginning, and has to see the same time and the same chance
// each time. Inside of a step it sees those of the world: what comes of a step is journaled.

import { AsyncLocalStorage } from 'node:async_hooks'

export interface Repeatable {
  now(): number
  random(): number
}

const repeated = new AsyncLocalStorage<Repeatable | undefined>()

export const asRepeated = <T>(world: Repeatable, fn: () => T): T => repeated.run(world, fn)
export const asOnce = <T>(fn: () => T): T => repeated.run(undefined, fn)
/** False in a step, and where nobody knows who is running. */
export const isRepeated = (): boolean => repeated.getStore() !== undefined

/** Puts another `Date` and `Math.random` in place of those of this isolate or process. */
export function makeTimeRepeatable(): void {
  const RealDate = Date
  const realRandom = Math.random
  const now = () => repeated.getStore()?.now() ?? RealDate.now()
  const replaced: DateConstructor = new Proxy(RealDate, {
    construct: (target, args, self) =>
      Reflect.construct(target, args.length > 0 ? args : [now()], self === replaced ? target : self),
    apply: () => new RealDate(now()).toString(),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  })
  Object.defineProperty(RealDate.prototype, 'constructor', { value: replaced })
  globalThis.Date = replaced
  Math.random = () => repeated.getStore()?.random() ?? realRandom()
}

/** Numbers between 0 and 1 that follow from the seed alone: SplitMix64, of which 53 bits are used. */
export function randomFrom(seed: string): () => number {
  let state = 0xcbf29ce484222325n
  for (const character of seed)
    state = BigInt.asUintN(64, (state ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n)
  return () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n)
    let mixed = state
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n)
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn)
    return Number((mixed ^ (mixed >> 31n)) >> 11n) / 2 ** 53
  }
}
