import picomatch from 'picomatch'

const MAX_LENGTH = 256
const MAX_STARS_IN_SEGMENT = 2
const MAX_GLOBSTARS = 2

/** What is longer than file systems allow matches nothing. */
const MAX_TEXT = 1024
const LONG_SEGMENT = /[^/]{256}/

/**
 * What is wrong with a pattern, or undefined. Patterns come from outside and are tried while a transaction is open, and
 * the library turns them into regular expressions that go back and forth: the more of them can give way, the longer a
 * text that just does not match takes. Within these bounds none takes more than a millisecond.
 */
export function globProblem(pattern: string): string | undefined {
  const positive = pattern.replace(/^!/, '')
  if (positive === '') return 'An empty pattern matches nothing'
  if (pattern.length > MAX_LENGTH) return `A pattern may have up to ${MAX_LENGTH} characters`
  if (/[()|\\\p{Cc}]/u.test(pattern)) return 'Patterns know *, **, ?, [a-z] and {a,b}, nothing else'
  const segments = positive.split('/')
  if (segments.filter((segment) => segment.includes('**')).length > MAX_GLOBSTARS)
    return `A pattern may have up to ${MAX_GLOBSTARS} times **`
  const stars = segments.map((segment) => segment.match(/\*+/g)?.length ?? 0)
  if (Math.max(...stars) > MAX_STARS_IN_SEGMENT)
    return `A pattern may have up to ${MAX_STARS_IN_SEGMENT} times * between two slashes`
  return undefined
}

/** Whether a text matches one of the patterns and none of those that begin with `!`. */
export function globs(patterns: readonly string[]): (text: string) => boolean {
  const matcher = (pattern: string) =>
    picomatch(pattern, { dot: true, nonegate: true, noextglob: true, strictSlashes: true })
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map(matcher)
  const unwanted = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => matcher(pattern.slice(1)))
  return (text) =>
    text.length <= MAX_TEXT &&
    !LONG_SEGMENT.test(text) &&
    (wanted.length === 0 || wanted.some((matches) => matches(text))) &&
    !unwanted.some((matches) => matches(text))
}
