import type { Circumstances } from './command.ts'

const PAGE = 500

interface Listing<Row> {
  page(page: { after: string; limit: number }): Promise<Row[]>
  /** After which the next page begins. */
  keyOf(row: Row): string
  /** For programs. */
  json(row: Row): object
  /** For people, in columns. */
  columns(row: Row): string[]
}

/** Prints all rows there are, a page at a time. */
export async function printAll<Row>(
  { page, keyOf, json, columns }: Listing<Row>,
  { values, print }: Pick<Circumstances, 'values' | 'print'>,
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await page({ after, limit: PAGE })
    if (values.json) for (const row of rows) print(JSON.stringify(json(row)))
    else for (const line of aligned(rows.map(columns))) print(line)
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) return
    after = keyOf(last)
  }
}

function aligned(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
