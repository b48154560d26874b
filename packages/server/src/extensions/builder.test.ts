import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, it } from 'node:test'
import { type Builder, BuilderUnavailable, createBuilder } from './builder.ts'

const ENTRY = 'extensions/e/index.ts'
const NEVER = new AbortController().signal

const builders: Builder[] = []
afterEach(() => {
  for (const builder of builders.splice(0)) builder.close()
})

function start(options: { timeoutMs?: number; execPath?: string } = {}): Builder {
  const builder = createBuilder({ timeoutMs: 20_000, ...options })
  builders.push(builder)
  return builder
}

const build = (source: string, options: { with?: Builder; signal?: AbortSignal } = {}) =>
  (options.with ?? start()).build({
    entry: ENTRY,
    runtime: 'worker',
    signal: options.signal ?? NEVER,
    answer: async () => ({ file: { path: ENTRY, contents: Buffer.from(source) } }),
  })

describe('the process that builds', () => {
  it('gives the same bytes each time, and stays for the next build', async () => {
    const one = start()
    const source = 'const unused = 1\nexport default (x: number): number => x + 1\n'
    const [first, second] = [await build(source, { with: one }), await build(source, { with: one })]
    assert.ok('bundle' in first && 'bundle' in second)
    assert.deepEqual(first.bundle, second.bundle)
    assert.match(Buffer.from(first.bundle.sourceMap).toString(), /unused/)
    assert.equal(one.started, 1)
    one.close()
    const other = await build(source)
    assert.ok('bundle' in other)
    assert.deepEqual(Buffer.from(other.bundle.code), Buffer.from(first.bundle.code))
  })

  it('costs one build when its time is over', async () => {
    const one = start({ timeoutMs: 400 })
    await build('export default 1', { with: one }).catch(() => {})
    const late = one.build({
      entry: ENTRY,
      runtime: 'worker',
      signal: NEVER,
      answer: () => new Promise(() => {}),
    })
    const outcome = await late
    assert.ok('gaveUp' in outcome && /0\.4 seconds/.test(outcome.gaveUp))
  })

  it('costs one build when it dies', async () => {
    const one = start()
    const died = await one.build({
      entry: ENTRY,
      runtime: 'worker',
      signal: NEVER,
      async answer() {
        one.close()
        return new Promise(() => {})
      },
    })
    assert.ok('gaveUp' in died)
    assert.ok('bundle' in (await build('export default 1', { with: one })))
  })

  it('is ended when nobody waits any more', async () => {
    const gone = new AbortController()
    const one = start()
    const building = one.build({
      entry: ENTRY,
      runtime: 'worker',
      signal: gone.signal,
      async answer() {
        gone.abort(new Error('the caller has left'))
        return new Promise(() => {})
      },
    })
    await assert.rejects(building, /the caller has left/)
  })

  it('says so when it cannot be started', async () => {
    await assert.rejects(
      build('export default 1', { with: start({ execPath: '/nonexistent' }) }),
      BuilderUnavailable,
    )
    await assert.rejects(
      build('export default 1', { with: start({ execPath: '/bin/false' }) }),
      BuilderUnavailable,
    )
  })

  it('refuses an import whose path is known only at run time', async () => {
    const one = start()
    for (const path of ['x', '"./" + x + ".ts"', '"cloudflare:" + x', 'atob("bm9kZTpmcw==")']) {
      const refused = await build(`export default (x) => import(${path})`, { with: one })
      const [message] = 'messages' in refused ? refused.messages : []
      assert.equal(message?.text, 'The path of an import must be written out, not put together', path)
      assert.equal(message?.line, 1)
    }
  })

  it('reads no file of the host, however it is named', async () => {
    const up = '../'.repeat(600)
    const tried = ['etc/" + x', 'etc/" + x + ".nothing"', 'no-such-folder/" + x']
    const one = start()
    for (const path of tried) {
      const refused = await build(`export default (x) => import("${up}${path})`, { with: one })
      const text = 'The path of an import must be written out, not put together'
      assert.deepEqual(refused, { messages: [{ text }] }, path)
    }
    await using directory = await mkdtempDisposable(join(tmpdir(), 'trellis-map-'))
    const map = {
      version: 3,
      sources: ['theirs.ts'],
      sourcesContent: ['not ours'],
      names: [],
      mappings: 'AAAA',
    }
    const file = join(directory.path, 'their.map')
    await writeFile(file, JSON.stringify(map))
    const outcome = await build(
      `export default 1\n//# sourceMappingURL=${'../'.repeat(600)}${file.slice(1)}\n`,
    )
    assert.ok('bundle' in outcome)
    const { sources, sourcesContent } = JSON.parse(Buffer.from(outcome.bundle.sourceMap).toString())
    assert.deepEqual(sources, [ENTRY])
    assert.doesNotMatch(sourcesContent[0], /not ours/)
  })

  it('survives sources that are made to hurt', { timeout: 300_000 }, async () => {
    const one = start({ timeoutMs: 2_000 })
    const hostile = [
      `export default ${'['.repeat(200_000)}${']'.repeat(200_000)}`,
      `export default ${'('.repeat(500_000)}`,
      `export default (x) => import("${'../'.repeat(600)}etc/" + x)`,
    ]
    for (const source of hostile) await build(source, { with: one })
    one.close()
    assert.ok('bundle' in (await build('export default 1')))
  })
})
