import type { Door, DoorFront } from './http/door.ts'
import { sendJson } from './http/exchange.ts'
import { Refusal } from './http/failure.ts'

/** A door nobody gets through yet, because the server is starting. Each says so in its own words. */
export const closed = (front: DoorFront): Door => ({
  ...front,
  handle(exchange) {
    // The process lives: whoever watches it must not end it in the middle of a migration.
    if (exchange.path === '/healthz') return sendJson(exchange, 200, { status: 'ok' })
    throw new Refusal(503, 'SERVICE_UNAVAILABLE', 'Trellis is starting; try again in a moment', {
      'retry-after': '1',
    })
  },
})
