const NET = 'net:'

/** What an extension may do that asks for `declared` and was given `granted`: never more than either. */
export function effectiveCapabilities(declared: readonly string[], granted: readonly string[]): string[] {
  const narrower = (some: readonly string[], others: readonly string[]) =>
    some.filter((capability) => others.some((other) => covers(other, capability)))
  return [...new Set([...narrower(declared, granted), ...narrower(granted, declared)])].toSorted()
}

function covers(wider: string, capability: string): boolean {
  if (wider === capability) return true
  if (!wider.startsWith(`${NET}*.`) || !capability.startsWith(NET)) return false
  const host = capability.slice(NET.length).replace(/^\*\./, '')
  return host.endsWith(wider.slice(`${NET}*`.length))
}
