// What is looked at without git is held against git: nothing is taken here that git refuses.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import type { Oid } from '../names.ts'
import { type ObjectType, oidOf } from '../objects/format.ts'
import { createObjectSet, formatPack } from '../objects/pack-writer.ts'
import { gatherFacts } from '../objects/push-facts.ts'
import { type ObjectReader, withObjects } from '../objects/reader.ts'
import { findBrokenTips, ingestPack, PackRejected, withQuarantine } from './intake.ts'
import { describePlainPush, readPlainPack } from './plain-push.ts'

let server: TestRepo
/** Where the branch is. */
let tip: Oid
/** A folder that is in it. */
let folder: Oid
before(() => {
  server = createTestRepo()
  tip = server.commit({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n' })
  server.git(['update-ref', 'refs/heads/main', tip])
  folder = server.git(['rev-parse', `${tip}:dir`]) as Oid
})
after(() => server[Symbol.dispose]())

type Made = [ObjectType, Buffer | string]

/** A pack of exactly these, however bad they are. */
async function packOf(objects: readonly Made[]): Promise<Buffer> {
  const set = createObjectSet()
  for (const [type, content] of objects) set.add(type, Buffer.from(content as string))
  return (await formatPack(set)).pack
}

async function* whole(bytes: Buffer) {
  yield bytes
}

/** Whether today's way through git takes the pack and the tip. */
const gitTakes = (pack: Buffer, after: Oid) =>
  withQuarantine(server.repo, join(server.root, 'quarantine'), async (inside) => {
    await ingestPack(inside, { pack: whole(pack) })
    return (await findBrokenTips(inside, [after])).size === 0
  }).catch((error: unknown) => {
    if (error instanceof PackRejected) return false
    throw error
  })

type Move = { before: Oid | null; after: Oid }

async function readPlainPush(
  bytes: Buffer,
  stored: ObjectReader,
  asked: { updates: Move[]; base: Oid | null },
) {
  const pack = await readPlainPack(bytes, stored)
  const described = pack && (await describePlainPush(pack, stored, asked))
  return described && { objects: pack.objects, described }
}

const readHere = (pack: Buffer, update: Move, base: Oid | null = tip) =>
  withObjects(server.repo, (stored) => readPlainPush(pack, stored, { updates: [update], base }))

const idOf = ([type, content]: Made): Oid => oidOf(type, Buffer.from(content as string))
const blob: Made = ['blob', 'text\n']
const entry = (mode: string, name: string | Buffer, oid: string = idOf(blob)) =>
  Buffer.concat([
    Buffer.from(`${mode} `),
    Buffer.from(name as string),
    Buffer.from([0]),
    Buffer.from(oid, 'hex'),
  ])
const treeOf = (...entries: Buffer[]): Made => ['tree', Buffer.concat(entries)]
const PERSON = 'Ann <ann@example.org> 1700000000 +0100'
const headed = (tree: string, more = '', person = PERSON) =>
  `tree ${tree}\nparent ${tip}\nauthor ${person}\ncommitter ${PERSON}\n${more}`
const commitOf = (tree: Made, text = `${headed(idOf(tree))}\nMessage\n`): Made => ['commit', text]

/** A push of a tree upon the branch. */
const withTree = (tree: Made, ...more: Made[]) => [commitOf(tree), tree, blob, ...more]
const plainTree = treeOf(entry('100644', 'file'))
/** A push of a commit with the plain tree upon the branch. */
const withCommit = (text: string) => [commitOf(plainTree, text), plainTree, blob]

async function judge(stored: ObjectReader, objects: readonly Made[]) {
  const [first] = objects
  const update = { before: tip, after: first ? idOf(first) : tip }
  const pack = await packOf(objects)
  const read = await readPlainPush(pack, stored, { updates: [update], base: tip })
  return { here: read !== undefined, git: await gitTakes(pack, update.after) }
}

const attributes: Made = ['blob', '*.txt text\n']

/** Both are asked of each. */
const judgeAll = (cases: Record<string, Made[]>, expected: { here: boolean; git: boolean }) =>
  withObjects(server.repo, async (stored) => {
    for (const [what, objects] of Object.entries(cases))
      assert.deepEqual(await judge(stored, objects), expected, what)
  })

describe('a push of plain objects', () => {
  const plain = (): Record<string, Made[]> => ({
    'a file': withTree(plainTree),
    'a program, a link, a submodule and a folder': withTree(
      treeOf(
        entry('100755', 'a-program'),
        entry('100644', 'folder-beside'),
        entry('40000', 'folder', idOf(plainTree)),
        entry('120000', 'link'),
        entry('160000', 'module', 'd'.repeat(40)),
      ),
      plainTree,
    ),
    'what is there already': [
      commitOf(treeOf(entry('40000', 'elsewhere', folder))),
      treeOf(entry('40000', 'elsewhere', folder)),
    ],
    'what is there already, once more': [...withTree(plainTree), ['blob', 'a\n']],
    'a folder sorted after a file with a point': withTree(
      treeOf(entry('100644', 'a.b'), entry('40000', 'a', idOf(plainTree)), entry('100644', 'a0')),
      plainTree,
    ),
    'names in other writings': withTree(
      treeOf(entry('100644', 'Übung'), entry('100644', 'уроки'), entry('100644', '日本')),
    ),
    'files that git itself has names for': withTree(
      treeOf(
        entry('100644', '.gitattributes', idOf(attributes)),
        entry('100644', '.gitignore'),
        entry('100644', '.gitkeep'),
      ),
      attributes,
    ),
    'other headers': withCommit(
      headed(idOf(plainTree), 'encoding UTF-8\ngpgsig -----BEGIN\n line\n \n -----END\nHG:rename a\n') +
        '\nMessage\n',
    ),
    'no message': withCommit(`${headed(idOf(plainTree))}\n`),
    'a commit of 1970': withCommit(`${headed(idOf(plainTree), '', 'Ann <> 0 +0000')}\nMessage\n`),
    'an empty file': [
      commitOf(treeOf(entry('100644', 'empty', idOf(['blob', ''])))),
      treeOf(entry('100644', 'empty', idOf(['blob', '']))),
      ['blob', ''],
    ],
  })

  it('is taken here as by git', () => judgeAll(plain(), { here: true, git: true }))

  it('is described as git describes it', async () => {
    const pack = await packOf(withTree(plainTree))
    const update = { before: tip, after: idOf(commitOf(plainTree)) }
    const read = await readHere(pack, update)
    const told = await withQuarantine(server.repo, join(server.root, 'quarantine'), async (inside) => {
      await ingestPack(inside, { pack: whole(pack) })
      return gatherFacts(inside, update)
    })
    assert.deepEqual(read?.described.facts.get(update), told)
    assert.deepEqual(read?.objects.map(({ oid }) => oid).toSorted(), withTree(plainTree).map(idOf).toSorted())
    const created = { before: null, after: update.after }
    assert.equal((await readHere(pack, created))?.described.facts.get(created)?.commitCount, 1)
  })
})

describe('a push of a new branch', () => {
  const factsByGit = (pack: Buffer, after: Oid, base: Oid) =>
    withQuarantine(server.repo, join(server.root, 'quarantine'), async (inside) => {
      await ingestPack(inside, { pack: whole(pack) })
      return gatherFacts(inside, { before: null, after }, { base })
    })

  async function judge(objects: readonly Made[], base: Oid) {
    const created = { before: null, after: idOf(objects[0] as Made) }
    const pack = await packOf(objects)
    const here = (await readHere(pack, created, base))?.described.facts.get(created)
    return { here, git: await factsByGit(pack, created.after, base) }
  }

  it('is described as git describes it where it left the default branch earlier, or never was on it', async () => {
    const later = server.commit({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'c.txt': 'c\n' }, tip)
    server.git(['update-ref', 'refs/heads/main', later])
    try {
      const left = await judge(withTree(plainTree), later)
      assert.deepEqual(left.here, left.git)
      const root = `tree ${idOf(plainTree)}\nauthor ${PERSON}\ncommitter ${PERSON}\n\nMessage\n`
      const apart = await judge(withCommit(root), later)
      assert.deepEqual(apart.here, apart.git)
      assert.deepEqual(apart.here?.changedPaths, ['file'])
    } finally {
      server.git(['update-ref', 'refs/heads/main', tip])
    }
  })

  it('is left to git where the way back to the default branch is long', async () => {
    const commit = (i: number) =>
      `commit refs/heads/long\ncommitter ${PERSON.replace('1700000000', String(1_700_000_000 + i))}\ndata 1\nx${i === 0 ? `\nfrom ${tip}` : ''}\n`
    server.git(['fast-import', '--quiet'], Array.from({ length: 1100 }, (_, i) => commit(i)).join(''))
    const long = server.git(['rev-parse', 'refs/heads/long']) as Oid
    const { here, git } = await judge(withTree(plainTree), long)
    assert.equal(here, undefined)
    assert.equal(git.commitCount, 1)
    server.git(['update-ref', '-d', 'refs/heads/long'])
  })

  it('is left to git where it goes on from a commit that the default branch has not', async () => {
    const forgotten = server.commit({ 'x.txt': 'x\n' }, tip)
    const text = `${headed(idOf(plainTree)).replace(tip, forgotten)}\nMessage\n`
    const { here, git } = await judge(withCommit(text), tip)
    assert.equal(here, undefined)
    assert.equal(git.commitCount, 2)
  })
})

describe('a push that brings nothing', () => {
  const factsByGit = ({ before, after }: Move, base: Oid) =>
    gatherFacts(server.repo, { before, after }, { base: before ? null : base })

  it('is described as git describes it where a branch moves to what is there', async () => {
    const empty = await packOf([])
    const first = server.commit({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'c.txt': 'c\n' }, tip)
    const later = server.commit({ 'a.txt': 'a\n', 'c.txt': 'cc\n' }, first)
    const beside = server.commit({ 'a.txt': 'aa\n' }, tip)
    server.git(['update-ref', 'refs/heads/main', later])
    server.git(['update-ref', 'refs/heads/beside', beside])
    try {
      const moves: Move[] = [
        { before: tip, after: later },
        { before: later, after: tip },
        { before: beside, after: later },
        { before: null, after: later },
        { before: null, after: first },
      ]
      for (const move of moves) {
        const read = await readHere(empty, move, later)
        assert.deepEqual(read?.described.facts.get(move), await factsByGit(move, later))
        assert.deepEqual(read?.objects, [])
      }
    } finally {
      server.git(['update-ref', 'refs/heads/main', tip])
      server.git(['update-ref', '-d', 'refs/heads/beside'])
    }
  })

  it('is left to git where what it names is not there, not whole or not on the default branch', async () => {
    const empty = await packOf([])
    const lacking = server.git(['mktree', '--missing'], `100644 blob ${'d'.repeat(40)}\tx\n`)
    const broken = server.git(['commit-tree', '-p', tip, '-m', 'x', lacking]) as Oid
    const apart = server.commit({ 'x.txt': 'x\n' })
    for (const after of ['d'.repeat(40), broken, folder] as Oid[])
      for (const before of [tip, null]) assert.equal(await readHere(empty, { before, after }), undefined)
    assert.equal(await readHere(empty, { before: null, after: apart }), undefined)
    assert.equal(await readHere(empty, { before: tip, after: apart }), undefined)
  })
})

describe('a push of objects that git refuses', () => {
  const tree = idOf(plainTree)
  const person = (line: string) => withCommit(`${headed(tree, '', line)}\nMessage\n`)
  const named = (name: string | Buffer, mode = '100644') => withTree(treeOf(entry(mode, name)))
  const modules = (text: string): Made[] => {
    const file: Made = ['blob', text]
    return withTree(treeOf(entry('100644', '.gitmodules', idOf(file))), file)
  }
  const attributed = (text: string): Made[] => {
    const file: Made = ['blob', text]
    return withTree(treeOf(entry('100644', '.gitattributes', idOf(file))), file)
  }
  const bad = (): Record<string, Made[]> => ({
    nulInHeader: withCommit(`${headed(tree, 'x \0\n')}\nMessage\n`),
    nulInCommit: withCommit(`${headed(tree)}\nMess\0age\n`),
    unterminatedHeader: withCommit(headed(tree, 'x y').replace(/\n$/, '')),
    badDate: person('Ann <a@b.c> now +0000'),
    badDateOverflow: person('Ann <a@b.c> 99999999999999999999 +0000'),
    zeroPaddedDate: person('Ann <a@b.c> 01700000000 +0000'),
    badEmail: person('Ann <a@b<.c> 1700000000 +0000'),
    badName: person('Ann> <a@b.c> 1700000000 +0000'),
    missingEmail: person('Ann 1700000000 +0000'),
    missingNameBeforeEmail: person('<a@b.c> 1700000000 +0000'),
    missingSpaceBeforeEmail: person('Ann<a@b.c> 1700000000 +0000'),
    badParentSha1: withCommit(`${headed(tree).replace(/parent \w+/, 'parent xyz')}\nMessage\n`),
    badTreeSha1: withCommit(`${headed('xyz')}\nMessage\n`),
    missingTree: withCommit(`${headed(tree).replace(/^tree \w+\n/, '')}\nMessage\n`),
    missingAuthor: withCommit(`${headed(tree).replace(/author .*\n/, '')}\nMessage\n`),
    multipleAuthors: withCommit(`${headed(tree).replace(/(author .*\n)/, '$1$1')}\nMessage\n`),
    missingCommitter: withCommit(`${headed(tree).replace(/committer .*\n/, '')}\nMessage\n`),
    'a parent that is not there': withCommit(`${headed(tree).replace(tip, 'd'.repeat(40))}\nMessage\n`),
    'a tree that is not there': withCommit(`${headed('d'.repeat(40))}\nMessage\n`),
    'a tree that is a file': withCommit(`${headed(idOf(blob))}\nMessage\n`),
    'a parent that is a tree': withCommit(
      `${headed(tree).replace(/parent \w+/, `parent ${tree}`)}\nMessage\n`,
    ),
    'a file that is not there': [commitOf(plainTree), plainTree],
    'a file that is a tree': withTree(treeOf(entry('100644', 'x', tree)), plainTree),
    'a file that was a folder': withTree(treeOf(entry('100644', 'dir', folder))),
    'a folder that was a file': withTree(treeOf(entry('40000', 'a.txt', idOf(['blob', 'a\n'])))),
    'a file beside those that were there, which is not': withTree(
      treeOf(entry('100644', 'a.txt', idOf(['blob', 'a\n'])), entry('100644', 'b.txt', 'd'.repeat(40))),
    ),
    'a folder that is a file': withTree(treeOf(entry('40000', 'x'))),
    badTree: withTree(['tree', 'nonsense']),
    'badTree, cut': withTree(['tree', entry('100644', 'file').subarray(0, -1)]),
    'badTree, without a mode': withTree(['tree', entry('', 'file')]),
    nullSha1: withTree(treeOf(entry('100644', 'x', '0'.repeat(40)))),
    fullPathname: named('a/b'),
    emptyName: named(''),
    hasDot: named('.'),
    hasDotdot: named('..'),
    hasDotgit: named('.git'),
    'hasDotgit, in capitals': named('.GIT', '40000'),
    'hasDotgit, ignored on a Mac': named('.g\u200cit'),
    'hasDotgit, ignored on a Mac too': named('\ufeff.git'),
    'hasDotgit, cut on Windows': named('.git. .'),
    'hasDotgit, short on Windows': named('git~1'),
    'hasDotgit, as a stream': named('.git::$INDEX_ALLOCATION'),
    'hasDotgit, behind a backslash': named('a\\.git'),
    'hasDotgit, not UTF-8': named(Buffer.from('.git\xff', 'latin1')),
    duplicateEntries: withTree(treeOf(entry('100644', 'a'), entry('100644', 'a'))),
    'duplicateEntries, apart': withTree(
      treeOf(entry('100644', 'a'), entry('100644', 'a.b'), entry('40000', 'a', tree)),
      plainTree,
    ),
    treeNotSorted: withTree(treeOf(entry('100644', 'b'), entry('100644', 'a'))),
    'treeNotSorted, a folder': withTree(treeOf(entry('40000', 'a', tree), entry('100644', 'a.b')), plainTree),
    gitmodulesName: modules('[submodule "../evil"]\n\tpath = a\n\turl = https://example.org/a\n'),
    gitmodulesUrl: modules('[submodule "a"]\n\tpath = a\n\turl = -u./payload\n'),
    gitmodulesPath: modules('[submodule "a"]\n\tpath = -evil\n\turl = https://example.org/a\n'),
    gitmodulesUpdate: modules('[submodule "a"]\n\tpath = a\n\turl = https://example.org/a\n\tupdate = !sh\n'),
    gitmodulesSymlink: named('.gitmodules', '120000'),
    'gitmodulesSymlink, ignored on a Mac': named('.gitm\u200codules', '120000'),
    'gitmodulesSymlink, short on Windows': named('GITMOD~1', '120000'),
    'gitmodulesSymlink, hashed on Windows': named('gi7eba~1', '120000'),
    gitmodulesBlob: withTree(treeOf(entry('40000', '.gitmodules', tree)), plainTree),
    gitmodulesMissing: withTree(treeOf(entry('100644', '.gitmodules', 'd'.repeat(40)))),
    gitattributesLineLength: attributed(`${'a'.repeat(3000)}\n`),
    gitattributesBlob: withTree(treeOf(entry('40000', '.gitattributes', tree)), plainTree),
    gitattributesMissing: withTree(treeOf(entry('100644', '.gitattributes', 'd'.repeat(40)))),
  })

  it('is not taken here either', () => judgeAll(bad(), { here: false, git: false }))
})

describe('a push that git has to look at', () => {
  const tag = (target: Oid): Made => [
    'tag',
    `object ${target}\ntype commit\ntag v1\ntagger ${PERSON}\n\nOne\n`,
  ]
  const odd = (): Record<string, Made[]> => ({
    'a padded mode': withTree(treeOf(entry('0100644', 'file'))),
    'a mode of old': withTree(treeOf(entry('100664', 'file'))),
    'a time zone of its own': withCommit(`${headed(idOf(plainTree), '', 'Ann <a@b.c> 1700000000 UTC')}\nx\n`),
    'bytes that are no text': [
      commitOf(treeOf(entry('100644', 'x', idOf(['blob', Buffer.from('\xff\xd8', 'latin1')])))),
      treeOf(entry('100644', 'x', idOf(['blob', Buffer.from('\xff\xd8', 'latin1')]))),
      ['blob', Buffer.from('\xff\xd8', 'latin1')],
    ],
    'a submodule': withTree(treeOf(entry('100644', '.gitmodules', idOf(['blob', '[submodule "a"]\n']))), [
      'blob',
      '[submodule "a"]\n',
    ]),
    'a tag': [...withTree(plainTree), tag(idOf(commitOf(plainTree)))],
  })

  it('for something unusual is left to it', () => judgeAll(odd(), { here: false, git: true }))

  it('because it moves otherwise is left to it', async () => {
    const moved = { before: tip, after: idOf(commitOf(plainTree)) }
    const pack = await packOf(withTree(plainTree))
    assert.equal(await readHere(pack, { before: idOf(blob), after: moved.after }), undefined)
    assert.equal(await readHere(pack, { before: tip, after: idOf(plainTree) }), undefined)
    assert.equal(await readHere(pack, { before: null, after: moved.after }, null), undefined)
    assert.equal((await readHere(pack, moved)) === undefined, false)
  })
})

it('takes what a stock git sends: differences to what is there, and a first push', async () => {
  using client = createTestRepo()
  using empty = createTestRepo()
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i}\n`)
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`dir/file-${i}`, lines.join('')]))
  const first = client.commit({ ...files, 'a.txt': lines.join('') })
  const second = client.commit(
    { 'a.txt': lines.toSpliced(7, 1, 'other\n').join(''), 'dir/file-3': 'x' },
    first,
  )
  const packed = (revisions: string, ...options: string[]) =>
    execFileSync('git', ['pack-objects', '--revs', '--stdout', '-q', ...options], {
      cwd: client.gitDir,
      input: revisions,
    })
  const read = (repo: TestRepo, pack: Buffer, update: Move) =>
    withObjects(repo.repo, (stored) =>
      readPlainPush(pack, stored, { updates: [update], base: update.before }),
    )
  const whole = await read(empty, packed(`${first}\n`), { before: null, after: first })
  assert.equal(whole?.objects.length, 4)
  empty.git(['fetch', '-q', client.gitDir, first])
  for (const options of [['--thin'], ['--thin', '--delta-base-offset'], []]) {
    const pack = packed(`${second}\n^${first}\n`, ...options)
    const update = { before: first, after: second }
    const later = await read(empty, pack, update)
    assert.deepEqual(later?.described.facts.get(update)?.changedPaths, ['a.txt', 'dir/file-3'])
    for (const { oid, type, content } of later?.objects ?? []) {
      assert.equal(oidOf(type, content), oid)
      assert.equal(client.git(['cat-file', '-t', oid]), type)
    }
  }
})
