// How files of repositories are shown. Anybody who can push has written them, so nothing in them may run here.

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

const IMAGES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  bmp: 'image/bmp',
}

/** How far git looks for a zero, which is in no text. */
const LOOKED_AT = 8_000

/** Whatever the type: no script, no origin of ours, nothing loaded, in nobody's frame. */
export const SHUT_IN = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

interface Shown {
  fileName: string
  /** The first bytes. */
  start: Buffer
  /** Whether it was asked for as a file to keep. */
  isDownload: boolean
  headers: IncomingHttpHeaders
}

/** Only images and text are shown; everything else is a file to keep. */
export function mediaOf({ fileName, start, isDownload, headers }: Shown): OutgoingHttpHeaders {
  const ending = /\.([a-z0-9]+)$/i.exec(fileName)?.[1]?.toLowerCase() ?? ''
  const isText = !start.subarray(0, LOOKED_AT).includes(0)
  // Scripts in it run where it is a page, and never where it is an image: browsers say which, and no page can lie for them.
  const isDrawing = ending === 'svg' && headers['sec-fetch-dest'] === 'image'
  const type = isDrawing ? 'image/svg+xml' : (IMAGES[ending] ?? (isText ? TEXT : BYTES))
  return {
    'content-type': type,
    'content-disposition': disposition(isDownload || type === BYTES ? 'attachment' : 'inline', fileName),
  }
}

const TEXT = 'text/plain; charset=utf-8'
const BYTES = 'application/octet-stream'

/** With the name as it is, and one for those who know only the plain. */
export function disposition(how: 'inline' | 'attachment', fileName: string): string {
  const plain = fileName.replace(/[^ !#-[\]-~]/g, '_')
  const exact = encodeURIComponent(fileName.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${how}; filename="${plain}"; filename*=UTF-8''${exact}`
}
