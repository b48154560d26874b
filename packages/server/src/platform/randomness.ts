import { randomFillSync } from 'node:crypto'

/** Drawn ahead: to ask the system for a few bytes costs as much as for many. */
const drawn = Buffer.alloc(4096)
let used = drawn.length

/** Where the next so many bytes begin. None is given out twice. */
function take(count: number): number {
  if (used + count > drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += count
  return used - count
}

export const randomByte = (): number => drawn[take(1)] as number

/** As hexadecimal digits, two a byte, of up to 4,096 bytes. */
export function randomHex(bytes: number): string {
  const at = take(bytes)
  return drawn.toString('hex', at, at + bytes)
}
