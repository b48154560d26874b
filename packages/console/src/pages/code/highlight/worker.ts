// Colours text, a few hundred lines at a time, away from the page: it shows the text meanwhile.

import {
  createCssVariablesTheme,
  createHighlighterCore,
  type GrammarState,
  type ThemedToken,
} from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import { GRAMMARS } from './grammars.ts'
import { type Asked, type Colours, KINDS, type Told } from './protocol.ts'

const LINES_AT_ONCE = 400
/** Longer ones are most likely no person's work. */
const LONGEST_LINE = 2_000
/** The first line of a language takes longest: its patterns are made then. */
const LINE_MS = 2_000

const THEME = createCssVariablesTheme({ name: 'kinds', variablePrefix: '--' })
const KIND_OF_COLOUR = new Map(KINDS.map((kind, index) => [`var(--token-${kind})`, index]))

// Patterns run as the browser's own: the policy of the page allows no WebAssembly.
const ready = createHighlighterCore({
  themes: [THEME],
  langs: [],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
})
const stopped = new Set<number>()

addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  if ('stop' in data) stopped.add(data.id)
  else void colour(data).finally(() => stopped.delete(data.id))
})

async function colour({ id, language, text }: { id: number; language: string; text: string }): Promise<void> {
  const highlighter = await ready
  const grammar = GRAMMARS[language]
  if (!grammar) return tell({ id, from: 0, lines: [], done: true })
  await highlighter.loadLanguage(grammar)
  const lines = text.split('\n')
  let state: GrammarState | undefined
  for (let from = 0; from < lines.length && !stopped.has(id); from += LINES_AT_ONCE) {
    const some = lines.slice(from, from + LINES_AT_ONCE)
    const tokens = highlighter.codeToTokensBase(some.join('\n'), {
      lang: language,
      theme: THEME.name ?? '',
      tokenizeMaxLineLength: LONGEST_LINE,
      tokenizeTimeLimit: LINE_MS,
      ...(state && { grammarState: state }),
    })
    state = highlighter.getLastGrammarState(tokens)
    tell({ id, from, lines: tokens.map(coloursOf), done: from + LINES_AT_ONCE >= lines.length })
    // Others have their turn, and word may come that nobody waits any more.
    await new Promise((resolve) => setTimeout(resolve))
  }
}

function coloursOf(tokens: ThemedToken[]): Colours {
  const colours: number[] = []
  for (const { content, color = '' } of tokens) {
    const kind = KIND_OF_COLOUR.get(color) ?? 0
    const last = colours.length - 1
    if (colours[last] === kind && last > 0) colours[last - 1] = (colours[last - 1] ?? 0) + content.length
    else colours.push(content.length, kind)
  }
  return colours
}

const tell = (told: Told): void => postMessage(told)
