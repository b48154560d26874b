// Patterns come from outside and are tried while a transaction is open, so no text may make one take long. A pattern
// becomes a machine whose states are all followed at once: the work is at most the length of the text times that of the
// pattern, whatever they are. (A regular expression goes back and forth, and sixty times `{,a}` never come to an end.)

const MAX_LENGTH = 256
/** What is longer than file systems allow matches nothing. */
const MAX_TEXT = 1024

/** What is wrong with a pattern, or undefined. */
export function globProblem(pattern: string): string | undefined {
  if (pattern.replace(/^!/, '') === '') return 'An empty pattern matches nothing'
  if (pattern.length > MAX_LENGTH) return `A pattern may have up to ${MAX_LENGTH} characters`
  if (/[()|\\\p{Cc}]/u.test(pattern)) return 'Patterns know *, **, ?, [a-z] and {a,b}, nothing else'
  return undefined
}

/** How much comparing may still cost: what follows a state of a pattern by one character is a step. */
export interface Effort {
  steps: number
}

/**
 * Whether a text matches one of the patterns and none of those that begin with `!`. When the effort is spent before that
 * is known, it counts as matching.
 */
export function globs(patterns: readonly string[]): (text: string, effort?: Effort) => boolean {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map(compile)
  const unwanted = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => compile(pattern.slice(1)))
  return (text, effort = { steps: Number.POSITIVE_INFINITY }) => {
    const isMatch =
      text.length <= MAX_TEXT &&
      (wanted.length === 0 || wanted.some((machine) => matches(machine, text, effort))) &&
      !unwanted.some((machine) => matches(machine, text, effort))
    return isMatch || effort.steps < 0
  }
}

type Accepts = (codePoint: number) => boolean

interface State {
  /** What leads on to `next`; a state without it leads on by itself. */
  accepts?: Accepts
  next: number[]
}

interface Machine {
  states: State[]
  start: number
}

const MATCHED = 0

/** Built from the end, so that every part knows where it leads. */
function compile(pattern: string): Machine {
  const states: State[] = [{ next: [] }]
  const add = (state: State): number => states.push(state) - 1

  function build(parts: readonly Part[], end: number): number {
    return parts.reduceRight((next, part) => buildPart(part, next), end)
  }

  function buildPart(part: Part, next: number): number {
    switch (part.kind) {
      case 'one':
        return add({ accepts: part.accepts, next: [next] })
      case 'any number':
        return loop(part.accepts, next)
      case 'folders':
        return add({ next: [next, loop(anything, add({ accepts: isSlash, next: [next] }))] })
      case 'either':
        return add({ next: part.choices.map((choice) => build(choice, next)) })
    }
  }

  function loop(accepts: Accepts, next: number): number {
    const start = add({ next: [next] })
    states[start]?.next.push(add({ accepts, next: [start] }))
    return start
  }

  return { start: build(parse(pattern), MATCHED), states }
}

function matches({ states, start }: Machine, text: string, effort: Effort): boolean {
  // In which turn a state was last reached, so that each is followed once a turn.
  const reachedIn = new Int32Array(states.length).fill(-1)
  let turn = 0
  let active: State[] = []

  function reach(index: number, into: State[]): void {
    const pending = [index]
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      effort.steps--
      const state = states[at]
      if (!state || reachedIn[at] === turn) continue
      reachedIn[at] = turn
      if (state.accepts) into.push(state)
      else pending.push(...state.next)
    }
  }

  reach(start, active)
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0
    const following: State[] = []
    turn++
    for (const { accepts, next } of active)
      if (accepts?.(codePoint)) for (const index of next) reach(index, following)
    if (effort.steps < 0 || (following.length === 0 && reachedIn[MATCHED] !== turn)) return false
    active = following
  }
  return reachedIn[MATCHED] === turn
}

type Part =
  | { kind: 'one'; accepts: Accepts }
  | { kind: 'any number'; accepts: Accepts }
  /** `**` and a slash: any folders, or none. */
  | { kind: 'folders' }
  | { kind: 'either'; choices: Part[][] }

const SLASH = 0x2f
const anything: Accepts = () => true
const isSlash: Accepts = (codePoint) => codePoint === SLASH
const isNoSlash: Accepts = (codePoint) => codePoint !== SLASH

function parse(pattern: string): Part[] {
  const parts: Part[] = []
  for (let at = 0; at < pattern.length; ) {
    const [part, length] = parsePart(pattern, at)
    parts.push(part)
    at += length
  }
  return parts
}

/** The part that begins here, and how long it is in the pattern. */
function parsePart(pattern: string, at: number): [Part, number] {
  const rest = pattern.slice(at)
  const isSegmentStart = at === 0 || pattern[at - 1] === '/'
  if (isSegmentStart && rest.startsWith('**/')) return [{ kind: 'folders' }, 3]
  const stars = /^\*+/.exec(rest)?.[0].length ?? 0
  if (stars > 0) return [{ kind: 'any number', accepts: stars > 1 ? anything : isNoSlash }, stars]
  if (rest.startsWith('?')) return [{ kind: 'one', accepts: isNoSlash }, 1]
  const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest)
  if (set?.[2]) return [{ kind: 'one', accepts: setOf(set[2], set[1] !== '') }, set[0].length]
  const choices = rest.startsWith('{') ? choicesIn(rest) : undefined
  if (choices) return [{ kind: 'either', choices: choices.texts.map(parse) }, choices.length]
  const wanted = rest.codePointAt(0) ?? 0
  return [{ kind: 'one', accepts: (codePoint) => codePoint === wanted }, wanted > 0xffff ? 2 : 1]
}

/** `a-z`, `abc`, or both. No set has the slash. */
function setOf(text: string, isNegated: boolean): Accepts {
  const ranges: [number, number][] = []
  const characters = [...text].map((character) => character.codePointAt(0) ?? 0)
  for (let i = 0; i < characters.length; i++) {
    const first = characters[i] ?? 0
    const last = characters[i + 2]
    const isRange = characters[i + 1] === 0x2d && last !== undefined
    ranges.push([first, isRange ? last : first])
    if (isRange) i += 2
  }
  return (codePoint) =>
    codePoint !== SLASH &&
    ranges.some(([first, last]) => codePoint >= first && codePoint <= last) !== isNegated
}

/** What stands between `{`, `,` and `}`; undefined when that is not what it is, and the brace stands for itself. */
function choicesIn(text: string): { texts: string[]; length: number } | undefined {
  const texts = ['']
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '{') depth++
    if (character === '}') depth--
    if (depth === 0) return texts.length > 1 ? { texts, length: at + 1 } : undefined
    if (depth === 1 && character === ',') texts.push('')
    else if (depth > 1 || at > 0) texts[texts.length - 1] += character
  }
  return undefined
}
