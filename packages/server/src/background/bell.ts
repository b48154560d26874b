/** Says that there may be something to do. Only a hint: whoever missed it finds out by looking from time to time. */
export interface Bell {
  ring(): void
  /** At most one listens; the bell is the line between one who makes work and one who does it. */
  listen(hear: () => void): void
}

export function createBell(): Bell {
  let hear: () => void = () => {}
  return {
    ring: () => hear(),
    listen: (listener) => {
      hear = listener
    },
  }
}
