import assert from 'node:assert/strict'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { describe, it } from 'node:test'
import { buildSync } from 'esbuild'
import { findSources } from './source-positions.ts'
import { createStackReaders } from './stacks.ts'

const CODE = `interface A { b: string }

export const first = (a: A): string =>
  a.b + 'é'
export class Second {
  async third() { return [first({ b: 'x' }), await import('node:os')] }
}
export default new Second()
`

describe('positions in a source map', () => {
  it('are those that Node finds', () => {
    const { outputFiles } = buildSync({
      stdin: { contents: CODE, loader: 'ts', sourcefile: 'a.ts' },
      ...{ bundle: true, write: false, sourcemap: 'external', outfile: '/out.js', format: 'esm' },
      ...{ platform: 'node', minifyWhitespace: true, charset: 'utf8' },
    })
    const [map = '', code = ''] = ['.map', '.js'].map(
      (end) => outputFiles.find(({ path }) => path.endsWith(end))?.text,
    )
    const payload = JSON.parse(map) as SourceMapPayload
    const node = new SourceMap(payload)
    const positions = code
      .split('\n')
      .flatMap((text, line) =>
        Array.from({ length: text.length }, (_, column) => ({ line: line + 1, column: column + 1 })),
      )
    assert.ok(positions.length > 100)
    const expected = positions.map(({ line, column }) => {
      const entry = node.findEntry(line - 1, column - 1)
      if (!('originalSource' in entry) || entry.generatedLine !== line - 1) return undefined
      return `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
    })
    assert.deepEqual(findSources(payload, positions), expected)
    assert.ok(expected.filter((source) => source !== undefined).length > 100)
  })

  it('are put into stacks, without what stands around the module, and only so much of it', () => {
    const stack = 'Error: x\n    at a (module.js:2:5)\n    at async Wrapper.perform (wrapper.js:10:20)'
    const map = { sources: ['a.ts'], mappings: `;AAEA${';'.repeat(9_000_000)}` }
    const read = createStackReaders()({ hash: 'h', sourceMap: JSON.stringify(map) })
    assert.deepEqual(
      [1, 2, 3].map(() => read(stack)),
      ['a.ts:3:1', 'a.ts:3:1', 'module.js:2:5'].map((position) => `Error: x\n    at a (${position})`),
    )
    const without = createStackReaders()({ hash: 'h', sourceMap: 'no map' })
    assert.equal(without('at module.js:1:1'), 'at module.js:1:1')
  })
})
