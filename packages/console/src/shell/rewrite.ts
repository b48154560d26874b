import { ORG_PAGES, REPO_MARK, RESERVED_SLUGS } from '@trellis/contract'

/** To the router, what is below is an organization's own. */
const OWN_MARK = '~'

/**
 * To the router every organization is at `/o/{org}`, its own pages at `/o/{org}/~/{page}`, and all else there is a
 * repository. In addresses that people see it is at `/{org}`, unless that is a word of the server's own, its pages at
 * `/{org}/{page}`, and a repository that is called like one at `/{org}/-/{repo}`.
 */
export const rewrite = {
  input({ url }: { url: URL }): URL | undefined {
    const [, first = '', ...rest] = url.pathname.split('/')
    if (first === '' || (first !== 'o' && RESERVED_SLUGS.has(first))) return undefined
    const [org = '', ...below] = first === 'o' ? rest : [first, ...rest]
    if (org === '') return undefined
    url.pathname = ['', 'o', org, ...withOwnMark(below)].join('/')
    return url
  },
  output({ url }: { url: URL }): URL | undefined {
    const [, first, org = '', ...below] = url.pathname.split('/')
    if (first !== 'o' || org === '') return undefined
    url.pathname = ['', ...(RESERVED_SLUGS.has(org) ? ['o'] : []), org, ...withRepoMark(below)].join('/')
    return url
  },
}

function withOwnMark(parts: string[]): string[] {
  const [name = '', ...below] = parts
  if (name === REPO_MARK) return below
  const isOwn = ORG_PAGES.has(name) && below.every((part) => part === '')
  return isOwn ? [OWN_MARK, ...parts] : parts
}

function withRepoMark(parts: string[]): string[] {
  const [name = '', ...below] = parts
  if (name === OWN_MARK) return below
  return ORG_PAGES.has(name) ? [REPO_MARK, ...parts] : parts
}
