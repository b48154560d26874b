import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import { oid } from '../../testing/git-repo.ts'
import { startKeeping } from '../../testing/kept-bytes.ts'
import { countTurns } from '../../testing/turns.ts'
import {
  cleanMessage,
  formatCommit,
  formatTree,
  oidOf,
  parseCommit,
  parseTree,
  type TreeEntry,
} from './format.ts'

test('cleans messages as git stripspace does', () => {
  const messages = [
    '',
    '\n',
    ' \t\r\n',
    'a',
    'a\n',
    '\n\na\n\n',
    'a  \nb\t\r\n',
    'a\n\n\n\nb',
    '  indented\n',
    'a\n \n\t\nb\n\n',
  ]
  messages.push('a\r\n\r\n\r\nb', 'ü\u00a0\n', '\u00a0\n', 'a\f\n', '#not a comment\n')
  for (const message of messages) {
    const stock = execFileSync('git', ['stripspace'], { input: message }).toString()
    assert.equal(cleanMessage(message), stock, JSON.stringify(message))
  }
})

test('a commit reads back as it was written', () => {
  const person = { name: 'Änn O’Neil', email: 'ann@example.org', time: 1_700_000_000_000, timezone: '-0930' }
  const commit = {
    tree: oid('a'.repeat(40)),
    parents: [oid('b'.repeat(40)), oid('c'.repeat(40))],
    author: person,
    committer: { ...person, name: 'B' },
    message: 'subject\n\nbody\n',
  }
  assert.deepEqual(parseCommit(formatCommit(commit)), { ...commit, signed: false })
})

test('trees are sorted as git sorts them and read back whole', async () => {
  const entry = (name: string, type: TreeEntry['type'] = 'blob'): TreeEntry => ({
    mode: type === 'tree' ? '040000' : '100644',
    type,
    oid: oid('1'.repeat(40)),
    name,
  })
  const entries = [entry('a0'), entry('a', 'tree'), entry('a-b'), entry('a.b'), entry('ｚ'), entry('𝒛')]
  const read = await parseTree(await formatTree(entries))
  assert.deepEqual(
    read.map(({ name }) => name),
    ['a-b', 'a.b', 'a', 'a0', 'ｚ', '𝒛'],
  )
  assert.deepEqual(new Set(read), new Set(entries))
})

test('a very large tree is written and read in several turns of the event loop', async () => {
  const entries = Array.from({ length: 30_000 }, (_, i) => ({
    mode: '100644',
    type: 'blob' as const,
    oid: oid('1'.repeat(40)),
    name: String(i).padStart(6, '0'),
  }))
  using writing = countTurns()
  const tree = await formatTree(entries.toReversed())
  assert.ok(writing.count >= 3, `${writing.count} turns`)
  using reading = countTurns()
  assert.deepEqual(await parseTree(tree), entries)
  assert.ok(reading.count >= 3, `${reading.count} turns`)
})

test('a tree cut anywhere is an error or a shorter tree, never a wrong entry', async () => {
  const whole = await formatTree(
    ['a', 'b', 'c'].map((name) => ({
      mode: '100644',
      type: 'blob' as const,
      oid: oid('1'.repeat(40)),
      name,
    })),
  )
  for (let length = 1; length < whole.length; length++) {
    const cut = whole.subarray(0, length)
    if (length % (whole.length / 3) === 0)
      assert.equal((await parseTree(cut)).length, length / (whole.length / 3))
    else await assert.rejects(parseTree(cut), /malformed/)
  }
})

test('ids are those of git', () => {
  const content = Buffer.from('hello\n')
  const stock = execFileSync('git', ['hash-object', '--stdin'], { input: content }).toString().trim()
  assert.equal(oidOf('blob', content), stock)
})

test('of people it keeps what anybody would show, and nothing of the rest', () => {
  const long = 'x'.repeat(400_000)
  const header = `tree ${'a'.repeat(40)}\nauthor ${long} <${long}> 1 +0000\ncommitter ü${long}\n\nmessage\n`
  const bytes = Buffer.from(header)
  const measure = startKeeping()
  const kept = Array.from({ length: 40 }, () => parseCommit(bytes))
  const keptBytes = measure()
  for (const { author, committer } of kept) {
    assert.deepEqual([author.name, author.email], ['x'.repeat(1000), 'x'.repeat(1000)])
    assert.equal(committer.name, `ü${'x'.repeat(999)}`)
    assert.equal(author.time, 1000)
  }
  assert.ok(keptBytes < 4_000_000, `${keptBytes} bytes are kept`)
})

test('long blanks and hostile people take no longer than others', () => {
  const blanks = ' '.repeat(1_000_000)
  const started = process.cpuUsage()
  const header = `tree ${'a'.repeat(40)}\nparent --upload-pack=x\nauthor ${blanks}x\ncommitter ${blanks}<${blanks}\n\n`
  const commit = parseCommit(Buffer.from(header))
  assert.deepEqual([commit.author.name, commit.committer.email.length, commit.parents], ['x', 1_000, []])
  assert.equal(cleanMessage(`a${blanks}b${blanks}`).length, 1_000_003)
  formatCommit({ ...commit, author: { ...commit.author, name: `x${blanks}y` } })
  assert(process.cpuUsage(started).user < 5_000_000)
})

test('modes that old tools wrote are read as git reads them', async () => {
  const entry = (mode: string, name: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.alloc(20, 1)])
  const written = ['100664', '0100644', '100775', '100700', '120777', '040000', '40755', '160000', '0']
  const read = await parseTree(Buffer.concat(written.map((mode, i) => entry(mode, `entry-${i}`))))
  assert.deepEqual(
    read.map(({ mode }) => mode),
    ['100644', '100644', '100755', '100755', '120000', '040000', '040000', '160000', '160000'],
  )
})
