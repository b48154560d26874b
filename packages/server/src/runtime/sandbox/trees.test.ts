import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type CheckOut, createTrees } from './trees.ts'

const never = new AbortController().signal
const commit = (name: string) => ({ repoId: 'repo_1', commitSha: name })

async function keep(options: { checkOut?: CheckOut; maxBytes?: number; maxTrees?: number } = {}) {
  const made = await mkdtempDisposable(join(tmpdir(), 'trellis-trees-'))
  const directory = join(made.path, 'trees')
  const asked: string[] = []
  const checkOut: CheckOut = async (which, into, signal) => {
    asked.push(which.commitSha)
    await options.checkOut?.(which, into, signal)
    await writeFile(join(into, 'file'), which.commitSha)
  }
  const trees = createTrees({
    maxBytes: 1e9,
    maxTrees: 10,
    ...options,
    directory,
    checkOut,
    owner: undefined,
  })
  const dispose = async () => {
    await trees.close()
    assert.ok(!existsSync(directory))
    await made.remove()
  }
  return { trees, directory, asked, [Symbol.asyncDispose]: dispose }
}

describe('trees', () => {
  it('are checked out once for all who want them', async () => {
    await using kept = await keep()
    const [one, other] = await Promise.all([
      kept.trees.use(commit('a'), never),
      kept.trees.use(commit('a'), never),
    ])
    assert.equal(one.name, other.name)
    assert.ok(one.bytes > 0)
    one[Symbol.dispose]()
    other[Symbol.dispose]()
    using again = await kept.trees.use(commit('a'), never)
    assert.equal(again.name, one.name)
    using foreign = await kept.trees.use({ repoId: 'repo_2', commitSha: 'a' }, never)
    assert.notEqual(foreign.name, one.name)
    assert.deepEqual(kept.asked, ['a', 'a'])
    assert.deepEqual(kept.trees.counts, { made: 2, found: 2 })
  })

  it('go when there are too many, those first that were not used for the longest time', async () => {
    await using kept = await keep({ maxTrees: 2 })
    const use = async (name: string) => (await kept.trees.use(commit(name), never))[Symbol.dispose]()
    using held = await kept.trees.use(commit('held'), never)
    await use('a')
    await use('b')
    await use('held')
    await use('b')
    assert.deepEqual(kept.asked, ['held', 'a', 'b'])
    await use('a')
    assert.deepEqual(kept.asked, ['held', 'a', 'b', 'a'])
    assert.ok(existsSync(join(kept.directory, held.name)))
  })

  it('go when they are too large together, but for those in use', async () => {
    await using kept = await keep({ maxBytes: 1 })
    const held = await kept.trees.use(commit('a'), never)
    assert.ok(existsSync(join(kept.directory, held.name, 'file')))
    held[Symbol.dispose]()
    assert.equal(kept.trees.bytes, 0)
  })

  it('that could not be made are tried again, and nothing is left of them', async () => {
    let fails = true
    await using kept = await keep({
      async checkOut(_commit, directory) {
        await writeFile(join(directory, 'half'), '')
        if (fails) throw new Error('no')
      },
    })
    await assert.rejects(kept.trees.use(commit('a'), never), /no/)
    assert.deepEqual(readdirSync(kept.directory), [])
    fails = false
    using tree = await kept.trees.use(commit('a'), never)
    assert.deepEqual(readdirSync(join(kept.directory, tree.name)).toSorted(), ['file', 'half'])
  })

  it('are not made to an end when nobody waits for them any more', async () => {
    const begun = Promise.withResolvers<AbortSignal>()
    await using kept = await keep({
      async checkOut(_commit, _directory, signal) {
        begun.resolve(signal)
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    const first = new AbortController()
    const second = new AbortController()
    const waiting = [first, second].map(({ signal }) => kept.trees.use(commit('a'), signal))
    const signal = await begun.promise
    first.abort()
    await assert.rejects(async () => waiting[0])
    assert.ok(!signal.aborted)
    second.abort()
    await assert.rejects(async () => waiting[1])
    assert.ok(signal.aborted)
  })
})
