// Paths as git prints them with -z: any bytes but NUL.

/** Text for a path, and its bytes where they are not UTF-8 and the text is only an approximation. */
export interface PathText {
  path: string
  rawPath?: Buffer
}

export function decodePath(raw: Buffer): PathText {
  const path = raw.toString('utf8')
  return raw.equals(Buffer.from(path)) ? { path } : { path, rawPath: Buffer.from(raw) }
}

/** The fields that end with NUL, the last one perhaps without. */
export function* splitNul(bytes: Buffer): Generator<Buffer, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const nul = bytes.indexOf(0, at)
    const end = nul < 0 ? bytes.length : nul
    yield bytes.subarray(at, end)
    at = end + 1
  }
}
