/** Hashed, summed up or copied in about a millisecond. */
const SLICE_BYTES = 512 * 1024

/** The same bytes, a little at a time. */
export function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  if (bytes.length <= SLICE_BYTES) {
    yield bytes
    return
  }
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}
