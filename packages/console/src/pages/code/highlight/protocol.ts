/** What the page asks of the worker that colours. */
export type Asked = { id: number; language: string; text: string } | { id: number; stop: true }

/** How a line is coloured: lengths of pieces, each before its kind. */
export type Colours = readonly number[]

/** The lines from one on, as they become known. */
export interface Told {
  id: number
  from: number
  lines: Colours[]
  done: boolean
}

/** The kinds of pieces; the first is ordinary text. Each is a class, and a colour in tokens.css. */
export const KINDS = [
  'plain',
  'keyword',
  'string',
  'comment',
  'constant',
  'function',
  'parameter',
  'string-expression',
  'punctuation',
  'link',
] as const
