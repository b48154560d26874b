/** What the address of a comparison says: `main...topic`. Names may have slashes, but never two dots. */
export function readComparison(text: string): { base: string; head: string } {
  const at = text.indexOf('...')
  return at < 0 ? { base: text, head: '' } : { base: text.slice(0, at), head: text.slice(at + 3) }
}

export const writeComparison = (base: string, head: string): string => `${base}...${head}`
