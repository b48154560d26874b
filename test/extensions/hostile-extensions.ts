// A commit that is made to take long to read: descriptors just within their bounds, and modules that do not end well.

import type { Client } from '../git/harness.ts'

const FOLDERS = 60
const BYTES = 60_000

/** Different in every turn, so that nothing is known of it. A part of all this is bad enough for a test. */
function hostileExtensions(turn: number, part: number): Record<string, string> {
  const files: Record<string, string> = {}
  for (let i = 0; i < FOLDERS * part; i++) {
    const name = `e${i}`
    const inputSchema = SCHEMAS[i % SCHEMAS.length]?.(turn * FOLDERS + i)
    files[`extensions/${name}/extension.json`] = JSON.stringify({ version: turn, name, inputSchema })
  }
  const modules = [
    `export default ${'['.repeat(100_000)}${turn}`,
    `${'import "./index.ts"\n'.repeat(20_000 * part)}export default ${turn}`,
    `export default /${'(a|b)*'.repeat(20_000)}/.test('${turn}')`,
    `export default "${'x'.repeat(3_000_000)}${turn}"`,
  ]
  for (const [i, source] of modules.entries()) {
    files[`extensions/m${i}/extension.json`] = JSON.stringify({ version: turn, name: `m${i}` })
    files[`extensions/m${i}/index.ts`] = source
  }
  return files
}

export async function pushHostileExtensions(
  client: Client,
  remote: string,
  { turn, part = 1 }: { turn: number; part?: number },
): Promise<void> {
  await client.commit(hostileExtensions(turn, part))
  await client.run('push', '-q', remote, `HEAD:hostile-${turn}`)
}

const repeated = (item: (i: number) => object): object[] => {
  const items: object[] = []
  for (let bytes = 0, i = 0; bytes < BYTES; i++) {
    const made = item(i)
    bytes += JSON.stringify(made).length + 1
    items.push(made)
  }
  return items
}

const SCHEMAS: ((nonce: number) => object)[] = [
  (nonce) => ({ allOf: repeated((i) => ({ pattern: `\\p{L}+[^\\x00-\\x7f]{9}${nonce + i}` })) }),
  (nonce) => ({ anyOf: repeated(() => ({})), $comment: `${nonce}` }),
  (nonce) => ({ allOf: repeated((i) => ({ type: `none-${nonce + i}` })) }),
  (nonce) => ({ allOf: repeated((i) => ({ pattern: `(${'a|'.repeat(200)}${nonce + i}){3}` })) }),
]
