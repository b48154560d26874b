import { RESERVED_SLUGS } from '@trellis/contract'

const firstOf = (path: string): string => path.split('/')[1] ?? ''

/**
 * To the router every organization is at `/o/{org}`. In addresses that people see it is at `/{org}`, unless that is a
 * word of the server's own.
 */
export const rewrite = {
  input({ url }: { url: URL }): URL | undefined {
    const first = firstOf(url.pathname)
    if (first === '' || RESERVED_SLUGS.has(first)) return undefined
    url.pathname = `/o${url.pathname}`
    return url
  },
  output({ url }: { url: URL }): URL | undefined {
    if (firstOf(url.pathname) !== 'o') return undefined
    const rest = url.pathname.slice('/o'.length)
    if (firstOf(rest) === '' || RESERVED_SLUGS.has(firstOf(rest))) return undefined
    url.pathname = rest
    return url
  },
}
