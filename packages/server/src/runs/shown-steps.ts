// What is shown of the steps of a workflow, where everything else about them is kept as it is: a run that is resumed has to
// find its own names again, and its errors, whatever secrets are in them. It is kept beside those, because nobody knows
// later which values the run was given.

import type { Blank } from '../runtime/ctx/blanking.ts'

/** What can be read of an error without reading the rest, which may be large. */
export const SHOWN_CHARACTERS = 4_000
const MESSAGE_CHARACTERS = 3_000
/** Of what is written with six characters each, so many fit at least. */
const FEWEST_CHARACTERS = 600

export interface ShownAsked {
  shown?: { name: string; subject?: string }
}

interface Asked {
  name: string
  event?: { subject?: string | undefined }
}

/** Nothing, where there is nothing to hide. */
export function shownAsked({ name, event }: Asked, blank: Blank): ShownAsked {
  const subject = event?.subject
  const shown = { name: blank(name), ...(subject !== undefined && { subject: blank(subject) }) }
  return shown.name === name && shown.subject === subject ? {} : { shown }
}

/** To be put before everything else of the error. */
export function shownError(
  { name = 'Error', message }: { name?: string | undefined; message: string },
  blank: Blank,
): { shown: string } {
  const text = `${name}: ${message}`
  const most = isShort(text.slice(0, MESSAGE_CHARACTERS)) ? MESSAGE_CHARACTERS : FEWEST_CHARACTERS
  return { shown: text.length > most ? `${blank.cut(text, most)}…` : blank(text) }
}

const isShort = (text: string) => JSON.stringify(text).length < SHOWN_CHARACTERS - 100

/** From the beginning of an error as it is kept. Those from before this was kept have no such text. */
export function errorIn(json: string): string {
  const [, shown] = /^\{"shown":("(?:[^"\\]|\\.)*")/.exec(json) ?? []
  if (shown !== undefined) return JSON.parse(shown) as string
  try {
    const { name = 'Error', message } = JSON.parse(json) as { name?: string; message: string }
    return `${name}: ${message}`
  } catch {
    return `${json}…`
  }
}
