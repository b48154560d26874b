const EVERY_ADDRESS: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

interface OwnAddress {
  url: string
  /** What the operator had better do about it. */
  advice?: string
}

/** Where clients reach a server that was not told so: where it listens. */
export function ownAddress(host: string, port: number): OwnAddress {
  const near = EVERY_ADDRESS[host]
  const url = `http://${bracketed(near ?? host)}:${port}`
  if (!near) return { url }
  return {
    url,
    advice:
      `Trellis listens on all addresses of this machine, and does not know by which one it is reached: links and ` +
      `remotes say ${url}. Set TRELLIS_BASE_URL to what clients use.`,
  }
}

const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host)
