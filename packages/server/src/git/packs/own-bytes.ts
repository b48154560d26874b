/** The same bytes in memory of their own: Node hands out small buffers from larger ones, all of which would be kept. */
export function ownBytes(bytes: Uint8Array): Buffer {
  const isOwn = bytes.buffer.byteLength <= bytes.length + 64
  if (isOwn && Buffer.isBuffer(bytes)) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
