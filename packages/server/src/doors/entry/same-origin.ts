import type { IncomingHttpHeaders } from 'node:http'

/** Browsers say where a request comes from, and no page can make them say otherwise. Other programs need not. */
export function comesFromHere(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  return headers.origin === undefined || headers.origin === origin
}
