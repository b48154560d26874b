// What git prints with -z: fields of any bytes but NUL.

/** The fields that end with NUL, the last one perhaps without. */
export function* splitNul(bytes: Buffer): Generator<Buffer, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const nul = bytes.indexOf(0, at)
    const end = nul < 0 ? bytes.length : nul
    yield bytes.subarray(at, end)
    at = end + 1
  }
}
