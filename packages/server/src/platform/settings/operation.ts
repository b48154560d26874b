import * as z from 'zod'
import { defaulted, oneOf, setting, wholeNumber } from './kinds.ts'

/** How a process behaves, and how much it takes on at once. */
export const operationSettings = {
  TRELLIS_METRICS_TOKEN: setting(
    'Bearer token for `/metrics`. Without it only callers on the same machine may read them.',
    z.string().min(16, 'must have at least 16 characters'),
  ),
  TRELLIS_LOG_LEVEL: defaulted(
    'The least serious log lines to print.',
    'info',
    oneOf('debug', 'info', 'warn', 'error'),
  ),
  TRELLIS_SHUTDOWN_SECONDS: defaulted(
    'How long requests in flight may take to finish after SIGTERM.',
    '30',
    wholeNumber(0, 3600),
  ),
  TRELLIS_MAX_CONNECTIONS: defaulted(
    'Connections open at once, per process. What comes on top is closed at once.',
    '10000',
    wholeNumber(1),
  ),
  TRELLIS_ADDRESS_MAX_CONNECTIONS: defaulted(
    'Connections open at once from one address (not for loopback, nor for trusted proxies).',
    '500',
    wholeNumber(1),
  ),
  TRELLIS_BODY_MIN_BYTES_PER_SECOND: defaulted(
    'How fast the body of a request has to arrive, pushes included. A connection that stays below it for 30 seconds is closed.',
    '1000',
    wholeNumber(0),
  ),
  TRELLIS_MAX_TAILS: defaulted(
    'Live tails of logs open at once, per process. An organization may have half of them.',
    '5000',
    wholeNumber(1),
  ),
  TRELLIS_CALLER_MAX_TAILS: defaulted(
    'Live tails that one person or agent may have open at once, per process.',
    '100',
    wholeNumber(1),
  ),
  TRELLIS_RATE_PER_SECOND: defaulted(
    'Requests per second for each credential, and for each address without one (not for loopback).',
    '100',
    wholeNumber(1),
  ),
  TRELLIS_RATE_BURST: defaulted(
    'Requests that may come at once before that rate holds.',
    '2000',
    wholeNumber(1),
  ),
}
