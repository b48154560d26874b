import { ORG_PAGES, REPO_MARK, RESERVED_SLUGS } from '@trellis/contract'
import type { Route } from '../http/door.ts'
import { type Exchange, send } from '../http/exchange.ts'
import { notFound } from '../http/failure.ts'
import { type ConsoleFile, openFiles } from './files.ts'
import { fontFaces } from './fonts.ts'

/** Scripts, styles, fonts and answers of our own, and nothing from anywhere else. */
const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'",
  "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
].join('; ')

const INDEX = '/index.html'
const THEME = '/assets/theme.js'
export const ASSETS_PREFIX = '/assets/'

export interface Console {
  /** Whether somebody goes there with a browser. Programs that ask for what is not there are to be told. */
  isVisit(exchange: Exchange): boolean
  /** What the page is made of, at `/assets/`. */
  asset: Route
  /** The page itself, wherever a browser goes that nothing else is at; for all others there is nothing. */
  page: Route
  /** What the server's own pages have of it, to look like it: rules of a stylesheet for its fonts. */
  fonts: string
  /** And the script that has them take the theme that was chosen there. */
  theme: Route
}

/** The console as it has been built into a directory; undefined where it has not. */
export async function openConsole(directory: string): Promise<Console | undefined> {
  const files = await openFiles(directory)
  // At once: what it names is what has just been listed.
  const index = await files.find(INDEX)
  if (!index) return undefined
  return {
    isVisit,
    fonts: fontFaces(files.paths),
    theme: (exchange) => sendKnown(exchange, THEME),
    asset: (exchange) => sendKnown(exchange, exchange.path),
    page(exchange) {
      if (!isVisit(exchange)) throw notFound()
      // What comes after it may be a secret that was mistyped.
      exchange.route = '/*'
      sendFile(exchange, index)
    },
  }

  async function sendKnown(exchange: Exchange, path: string): Promise<void> {
    const file = await files.find(path)
    if (!file) throw notFound()
    sendFile(exchange, file)
  }
}

/** Where an organization is in the console. One that is called like a page of the server has another address. */
export const pageOfOrg = (org: string): string => `${RESERVED_SLUGS.has(org) ? '/o' : ''}/${org}`

/** And a repository: so has one that is called like a page of its organization. */
export const pageOfRepo = (org: string, name: string): string =>
  `${pageOfOrg(org)}/${ORG_PAGES.has(name) ? `${REPO_MARK}/` : ''}${name}`

const isVisit = ({ request: { method, headers } }: Exchange): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')

function sendFile(exchange: Exchange, { type, etag, isLasting, ...forms }: ConsoleFile): void {
  const { headers } = exchange.request
  const shared = {
    'content-security-policy': POLICY,
    // Forms and the pages that sign in look at where one comes from.
    'referrer-policy': 'same-origin',
    'cache-control': isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'accept-encoding',
  }
  if (headers['if-none-match']?.split(/\s*,\s*/).includes(etag)) {
    send(exchange, 304, type, '', shared)
    return
  }
  const encoding = (['br', 'gzip'] as const).find((form) => forms[form] && accepts(headers, form))
  const body = (encoding && forms[encoding]) ?? forms.plain
  send(exchange, 200, type, body, { ...shared, ...(encoding && { 'content-encoding': encoding }) })
}

/** A form that is named, and not with a weight of nothing. */
const accepts = (headers: Exchange['request']['headers'], form: string): boolean =>
  new RegExp(`\\b${form}\\b(?!\\s*;\\s*q=0(\\.0*)?(\\s|,|$))`).test(String(headers['accept-encoding'] ?? ''))
