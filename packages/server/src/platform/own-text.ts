/**
 * A string that holds its own characters and no more than so many. A part of a string is made as a view of the whole: to
 * keep a name out of megabytes is to keep the megabytes.
 */
export function ownText(text: string, maxLength = text.length): string {
  return Buffer.from(text.slice(0, maxLength), 'utf8').toString('utf8')
}
