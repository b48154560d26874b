/** Up to here the search that the language brings is fast whatever it looks for and in. */
const SHORT = 32

/**
 * Whether texts have this one in them. What comes with the language compares some long texts again from every place,
 * which takes time that nobody else has; this one looks at each character once (Knuth, Morris and Pratt).
 */
export function createSearch(wanted: string): (text: string) => boolean {
  if (wanted.length <= SHORT) return (text) => text.includes(wanted)
  /** How much of the beginning is there, too, at the end of so many characters. */
  const overlaps = new Uint32Array(wanted.length + 1)
  for (let i = 1, length = 0; i < wanted.length; i++) {
    length = extended(overlaps, wanted, length, wanted.charCodeAt(i))
    overlaps[i + 1] = length
  }
  return (text) => {
    let length = 0
    for (let i = 0; i < text.length; i++) {
      length = extended(overlaps, wanted, length, text.charCodeAt(i))
      if (length === wanted.length) return true
    }
    return false
  }
}

/** How much of the beginning stands at the end of a text, after one more character. */
function extended(overlaps: Uint32Array, wanted: string, length: number, next: number): number {
  let at = length
  while (at > 0 && wanted.charCodeAt(at) !== next) at = overlaps[at] as number
  return wanted.charCodeAt(at) === next ? at + 1 : 0
}
