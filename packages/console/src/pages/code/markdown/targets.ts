import { resolvePath } from '../paths.ts'

/** Where a link or an image of a text leads. */
type Target =
  | { kind: 'inside'; path: string; hash: string }
  | { kind: 'heading'; id: string }
  | { kind: 'outside'; href: string }

/** Headings keep apart from whatever else has an id on the page. */
export const headingId = (slug: string): string => `doc-${slug}`

/** Undefined for what no link may be: scripts, data, and what leaves the repository. */
export function targetOf(href: string, from: string): Target | undefined {
  const written = href.trim()
  if (written.startsWith('#'))
    return { kind: 'heading', id: headingId(decoded(written.slice(1)).toLowerCase()) }
  if (written.startsWith('//')) return targetOf(`https:${written}`, from)
  if (/^[a-z][a-z0-9+.-]*:/i.test(written)) return outside(written)
  const [, path = '', hash = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(written) ?? []
  const resolved = resolvePath(from, decoded(path))
  return resolved === undefined ? undefined : { kind: 'inside', path: resolved, hash: decoded(hash) }
}

function outside(written: string): Target | undefined {
  const url = URL.parse(written)
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return undefined
  return { kind: 'outside', href: url.href }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** As GitHub makes them, so that links in texts that were written for it work. */
export const slugOf = (words: string): string =>
  words
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
