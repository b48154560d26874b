const KEY = 'organization'

/** The organization somebody worked in last: where they begin the next time. */
export function rememberedOrganization(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined
  } catch {
    return undefined
  }
}

export function rememberOrganization(slug: string | undefined): void {
  try {
    if (slug) localStorage.setItem(KEY, slug)
    else localStorage.removeItem(KEY)
  } catch {
    // Storage may be forbidden: everybody begins at home then.
  }
}
