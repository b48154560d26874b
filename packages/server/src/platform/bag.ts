/** What is in a bag knows where. */
export interface Bagged {
  place: number
}

/**
 * What is under way at the moment, in no order. A `Set` would do, but for its garbage: it is laid out anew every few
 * additions, each layout refers to the next and to all that was in it, and once one is old all later ones are kept
 * until old memory is looked through.
 */
export function createBag<T extends Bagged>() {
  const items: T[] = []

  return {
    add(item: T): void {
      item.place = items.push(item) - 1
    },

    /** What is not in it is left alone. */
    remove(item: T): void {
      if (items[item.place] !== item) return
      const last = items.pop() as T
      if (last === item) return
      items[item.place] = last
      last.place = item.place
    },

    [Symbol.iterator]: () => items[Symbol.iterator](),
  }
}
