/** Takes the values of secrets out of whatever a run says. */
export interface Blank {
  <T>(value: T): T
  /**
   * So much of a text, if it has as much. Of the secret that this cuts in two nothing is left, and neither of one that was
   * cut in two where the text ends.
   */
  cut(text: string, most: number): string
}

/** Shorter ones are found in words that have nothing to do with them. */
const SHORTEST = 8
const BLANK = '***'
/** What is nested deeper is looked through as text: whoever writes it must not choose how deep this goes. */
const DEEPEST = 100

type Range = readonly [from: number, to: number]

export function createBlank(secrets: readonly string[]): Blank {
  const forms = [...new Set(secrets.flatMap(formsOf))]

  const whole = (text: string): Range[] => forms.flatMap((form) => rangesOf(form, text))
  const clean = (text: string): string => without(whole(text), text)
  const cleanCut = (text: string): string => {
    const begun = forms.reduce((most, form) => Math.max(most, begunAtEnd(form, text)), 0)
    const last: Range[] = begun > 0 ? [[text.length - begun, text.length]] : []
    return without([...whole(text), ...last], text)
  }

  function walk(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return clean(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > DEEPEST) return clean(JSON.stringify(value))
    if (Array.isArray(value)) return value.map((inner) => walk(inner, depth + 1))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [clean(key), walk(inner, depth + 1)]),
    )
  }

  const isNothing = forms.length === 0
  return Object.assign(<T>(value: T) => (isNothing ? value : (walk(value, 0) as T)), {
    cut: (text: string, most: number) => (text.length < most ? text : cleanCut(text.slice(0, most))),
  })
}

/** As it is, as it stands in JSON, and each of its lines: what programs print is told line by line. */
const formsOf = (secret: string): string[] =>
  [secret, JSON.stringify(secret).slice(1, -1), ...secret.split(/\r?\n/)].filter(
    ({ length }) => length >= SHORTEST,
  )

function rangesOf(form: string, text: string): Range[] {
  const found: Range[] = []
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
    found.push([at, at + form.length])
  return found
}

/** With something else in the place of each range, and of those that overlap together: one may be a part of another. */
function without(ranges: readonly Range[], text: string): string {
  if (ranges.length === 0) return text
  const parts: string[] = []
  let end = 0
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    if (from >= end) parts.push(text.slice(end, from), BLANK)
    end = Math.max(end, to)
  }
  return `${parts.join('')}${text.slice(end)}`
}

/**
 * How many of the last characters of a text are the first of a form. It takes as long as the form is, whatever stands in
 * both: after a character that is another one the search goes on with the next shorter beginning that still fits.
 */
function begunAtEnd(form: string, text: string): number {
  const shorter = new Int32Array(form.length)
  const next = (fitting: number, character: string | undefined): number => {
    let length = fitting
    while (length > 0 && form[length] !== character) length = shorter[length - 1] ?? 0
    return form[length] === character ? length + 1 : length
  }
  for (let at = 1; at < form.length; at++) shorter[at] = next(shorter[at - 1] ?? 0, form[at])
  let fitting = 0
  for (let at = Math.max(0, text.length - form.length + 1); at < text.length; at++)
    fitting = next(fitting, text[at])
  return fitting
}
