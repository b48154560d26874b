import type { ServerResponse } from 'node:http'
import { ClientGone } from './body.ts'

/** Aborted when the client leaves without waiting for its answer. */
export function leavingOf(response: ServerResponse): AbortSignal {
  const left = new AbortController()
  const leave = () => {
    if (!response.writableFinished) left.abort(new ClientGone())
  }
  if (response.closed) leave()
  else response.once('close', leave)
  return left.signal
}
