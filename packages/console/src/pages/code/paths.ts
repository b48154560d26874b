/** Where a relative path leads from a file, or from the root with a slash before it; undefined outside of the repository. */
export function resolvePath(from: string, to: string): string | undefined {
  const parts = to.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const part of to.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}
