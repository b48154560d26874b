interface Dated {
  readonly date: number
}

interface Place<Item> {
  item: Item
  turn: number
}

/** Newest first; of one date, in the order they came. */
interface DateQueue<Item> {
  readonly size: number
  put(item: Item): void
  /** Undefined when it is empty. */
  take(): Item | undefined
  first(): Item | undefined
}

export function createDateQueue<Item extends Dated>(): DateQueue<Item> {
  /** A heap: nobody comes before the one at half its place. */
  const heap: Place<Item>[] = []
  let turns = 0

  const isBefore = (a: Place<Item>, b: Place<Item>) =>
    a.item.date === b.item.date ? a.turn < b.turn : a.item.date > b.item.date

  function rise(place: Place<Item>, from: number): void {
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (!parent || isBefore(parent, place)) break
      heap[at] = parent
      at = above
    }
    heap[at] = place
  }

  /** Down to where it belongs, the better of the two below going up. */
  function sink(place: Place<Item>): void {
    let at = 0
    for (;;) {
      const below = 2 * at + 1
      const [left, right] = [heap[below], heap[below + 1]]
      const better = left && right && isBefore(right, left) ? right : left
      if (!better || isBefore(place, better)) break
      heap[at] = better
      at = better === right ? below + 1 : below
    }
    heap[at] = place
  }

  return {
    get size() {
      return heap.length
    },
    put(item) {
      rise({ item, turn: turns++ }, heap.length)
    },
    take() {
      const first = heap[0]
      const last = heap.pop()
      if (last && heap.length > 0) sink(last)
      return first?.item
    },
    first: () => heap[0]?.item,
  }
}
