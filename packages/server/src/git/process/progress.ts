// What git says while it works is of two kinds: how far it is, which a client may see, and complaints, which may quote
// what is in a repository and name directories of the server.

const COMPLAINT = /^(fatal|error|warning|usage|BUG|hint): /

/** Whether a text of git's has a complaint in it, with the lines of all of them. */
export const complaintsIn = (text: string): string[] =>
  text.split(/[\r\n]/).flatMap((line) => (COMPLAINT.test(line) ? [line.replace(COMPLAINT, '')] : []))

/** Hands on whole lines, and nothing any more from the first complaint on. */
export function progressOnly(tell: (text: Buffer) => void): (chunk: Buffer) => void {
  let unfinished: Buffer = Buffer.alloc(0)
  let isOver = false
  return (chunk) => {
    if (isOver) return
    const text = Buffer.concat([unfinished, chunk])
    // Lines that replace each other end in a carriage return.
    const end = Math.max(text.lastIndexOf(0x0a), text.lastIndexOf(0x0d)) + 1
    unfinished = text.subarray(end)
    if (end === 0) return
    const whole = text.subarray(0, end)
    if (complaintsIn(whole.toString('latin1')).length > 0) isOver = true
    else tell(whole)
  }
}
