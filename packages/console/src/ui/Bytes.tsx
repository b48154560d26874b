const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

/** A size as people say it: 4.2 MB. */
export function sayBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[power]}`
}

export const Bytes = ({ of: bytes }: { of: number }) => sayBytes(bytes)
