export interface Cookie {
  read(header: string | undefined): string | undefined
  /** The value of a Set-Cookie header. */
  write(value: string): string
  clear(): string
}

/** A cookie that scripts cannot read and other sites cannot send along with their requests. */
export function createCookie(
  name: string,
  {
    maxAgeSeconds,
    secure,
    sameSite = 'Lax',
  }: { maxAgeSeconds: number; secure: boolean; sameSite?: 'Lax' | 'Strict' },
): Cookie {
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`
  // The prefix keeps neighbours on the same domain from setting it.
  const start = `${secure ? '__Host-' : ''}${name}=`
  return {
    read(header) {
      const found = header?.split(';').find((part) => part.trim().startsWith(start))
      const value = found?.trim().slice(start.length)
      // Ours are base64url: anything else was not written here.
      return value && /^[\w.-]{16,200}$/.test(value) ? value : undefined
    },
    write: (value) => `${start}${value}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    clear: () => `${start}; Max-Age=0; ${attributes}`,
  }
}
