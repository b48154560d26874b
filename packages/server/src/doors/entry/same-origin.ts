import type { IncomingHttpHeaders } from 'node:http'

/** Browsers say where a request comes from, and no page can make them say otherwise. Other programs need not. */
export function comesFromHere(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  return headers.origin === undefined || headers.origin === origin
}

/** Whether somebody goes there: they typed the address, kept it, or followed a link. What it answers no page can read. */
export const isVisit = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
