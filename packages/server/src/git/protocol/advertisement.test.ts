import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runProgramSync } from '../../testing/programs.ts'
import type { Oid, RefName } from '../names.ts'
import { advertise, answerLsRefs, parseProtocolVersion, type Ref, type RefList } from './advertisement.ts'
import { compareNames, SortedRefs } from './sorted-refs.ts'

const root = mkdtempSync(join(tmpdir(), 'advertisement-'))
const full = join(root, 'full')
const empty = join(root, 'empty')

const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}

function git(dir: string, args: string[], more: { input?: string; version?: number } = {}): string {
  const { code, stdout, stderr } = runProgramSync(['git', ...args], {
    cwd: dir,
    input: more.input,
    env: { ...env, GIT_PROTOCOL: `version=${more.version ?? 0}` },
  })
  assert.equal(code, 0, stderr)
  return stdout.toString()
}

before(() => {
  for (const dir of [full, empty]) {
    git(root, ['init', '-q', '-b', 'main', '--bare', dir])
    git(dir, ['config', 'uploadpack.allowFilter', 'true'])
    git(dir, ['config', 'uploadpack.allowAnySHA1InWant', 'true'])
    git(dir, ['config', 'receive.advertisePushOptions', 'true'])
  }
  const tree = git(full, ['mktree']).trim()
  const commit = git(full, ['commit-tree', tree, '-m', 'first']).trim()
  for (const ref of ['heads/main', 'heads/dév', 'tags/light', 'pull/1/head'])
    git(full, ['update-ref', `refs/${ref}`, commit])
  git(full, ['tag', '-a', '-m', 'annotated', 'v1', commit])
  git(full, ['-c', 'advice.nestedTag=false', 'tag', '-a', '-m', 'of a tag', 'v2', 'v1'])
})
after(() => rmSync(root, { recursive: true }))

function refsOf(dir: string): RefList {
  const format = '%(refname) %(objectname) %(objecttype)'
  const lines = git(dir, ['for-each-ref', `--format=${format}`])
    .split('\n')
    .filter(Boolean)
  const refs = lines.map((line): Ref => {
    const [name, oid, type] = line.split(' ') as [RefName, Oid, string]
    const peeled = type === 'tag' ? (git(dir, ['rev-parse', `${oid}^{}`]).trim() as Oid) : null
    return { name, oid, peeled }
  })
  const headBranch = 'refs/heads/main' as RefName
  return {
    headBranch,
    headOid: refs.find((ref) => ref.name === headBranch)?.oid ?? null,
    refs: SortedRefs.of(refs),
  }
}

async function text(chunks: Iterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

/** Lengths go, because the agents differ in length. */
const comparable = (wire: string) => wire.replace(/^[0-9a-f]{4}/gm, '').replace(/agent=\S+/, 'agent')

for (const dir of [full, empty]) {
  const what = dir === full ? 'a repository' : 'an empty repository'
  for (const version of [0, 1, 2] as const) {
    for (const service of ['upload-pack', 'receive-pack']) {
      test(`advertises ${what} for ${service} at version ${version} as git itself does`, async () => {
        const theirs = git(dir, [service, '--http-backend-info-refs', '.'], { version })
        const ours = await text(
          await advertise(`git-${service}` as 'git-upload-pack', version, () => refsOf(dir)),
        )
        const preface = /^001.# service=git-(upload|receive)-pack\n0000/
        assert.equal(preface.test(ours), version !== 2 || service === 'receive-pack')
        assert.equal(comparable(ours.replace(preface, '')), comparable(theirs))
      })
    }
  }

  test(`answers ls-refs on ${what} byte by byte as git itself does`, async () => {
    const frame = (line: string) => (line.length + 4).toString(16).padStart(4, '0') + line
    const prefixLists = [
      [],
      ['refs/heads/'],
      ['HEAD', 'refs/tags/v'],
      ['refs/nothing/'],
      ['HE', 'refs/pull'],
      ['refs/tags/v1', 'refs/', 'refs/tags/', 'A'],
    ]
    for (const prefixes of prefixLists) {
      for (let bits = 0; bits < 8; bits++) {
        const options = { peel: !!(bits & 1), symrefs: !!(bits & 2), unborn: !!(bits & 4), prefixes }
        const flags = (['peel', 'symrefs', 'unborn'] as const).filter((flag) => options[flag])
        const args = [...flags, ...prefixes.map((prefix) => `ref-prefix ${prefix}`)].map(frame).join('')
        const input = `${frame('command=ls-refs')}${frame('object-format=sha1')}0001${args}0000`
        const theirs = git(dir, ['upload-pack', '--stateless-rpc', '.'], { version: 2, input })
        assert.equal(await text(answerLsRefs(refsOf(dir), options)), theirs, JSON.stringify(options))
      }
    }
  })
}

test('streams fifty thousand refs in chunks of bounded size', async () => {
  const oid = 'a'.repeat(40) as Oid
  function* refs() {
    for (let i = 0; i < 50_000; i++) yield { name: `refs/heads/b${i}` as RefName, oid, peeled: null }
  }
  let lines = 0
  let largest = 0
  const sorted = [...refs()].sort((a, b) => compareNames(a.name, b.name))
  const list = { headBranch: 'refs/heads/b0' as RefName, headOid: oid, refs: SortedRefs.of(sorted) }
  const options = { peel: true, symrefs: true, unborn: true, prefixes: [] }
  for (const chunk of answerLsRefs(list, options)) {
    lines += chunk.toString().split('\n').length - 1
    largest = Math.max(largest, chunk.length)
  }
  assert.equal(lines, 50_001)
  assert.ok(largest < 64 * 1024)
})

test('says of many refs what it says of each, also when it has said so before', async () => {
  const frame = (line: string) => (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line
  const oidOf = (i: number) => i.toString(16).padStart(40, '0') as Oid
  const refAt = (i: number): Ref => {
    const name = `refs/${i % 3 ? 'heads' : 'tags'}/é${i}${i % 50 ? '' : '-long'.repeat(150)}` as RefName
    return { name, oid: oidOf(i), peeled: i % 6 ? null : oidOf(i + 1) }
  }
  const all = Array.from({ length: 2_000 }, (_, i) => refAt(i)).sort((a, b) => compareNames(a.name, b.name))
  const headBranch = 'refs/heads/none' as RefName
  const ls = { symrefs: false, unborn: false }
  async function check(refs: SortedRefs): Promise<void> {
    const list = { headBranch, headOid: null, refs }
    const each = (lines: (ref: Ref) => string[]) => [...refs].flatMap(lines).map(frame).join('')
    const plain = ({ oid, name }: Ref) => [`${oid} ${name}\n`]
    const inside = ({ oid, name, peeled }: Ref) => [`${oid} ${name}${peeled ? ` peeled:${peeled}` : ''}\n`]
    const beside = (ref: Ref) => [...plain(ref), ...(ref.peeled ? [`${ref.peeled} ${ref.name}^{}\n`] : [])]
    const lsRefs = (peel: boolean, prefixes: string[]) => text(answerLsRefs(list, { ...ls, peel, prefixes }))
    assert.equal(await lsRefs(false, []), `${each(plain)}0000`)
    assert.equal(await lsRefs(true, []), `${each(inside)}0000`)
    const isTag = ({ name }: Ref) => name.startsWith('refs/tags/')
    assert.equal(
      await lsRefs(true, ['refs/tags/', 'refs/tags/é1']),
      `${each((ref) => (isTag(ref) ? inside(ref) : []))}0000`,
    )
    for (const [service, lines] of [
      ['git-receive-pack', plain],
      ['git-upload-pack', beside],
    ] as const) {
      const said = (await text(await advertise(service, 0, () => list))).replace(/^.*?0000/s, '')
      // The first line tells more.
      const [first = ''] = [...refs].map(({ oid, name }) => `${oid} ${name}`)
      assert.ok(said.slice(4).startsWith(`${first}\0`))
      assert.equal(said.slice(said.indexOf('\n') + 1), `${each(lines).slice(frame(`${first}\n`).length)}0000`)
    }
  }
  const list = SortedRefs.of(all)
  await check(list)
  await check(list)
  const name = all[1_000]?.name as RefName
  await check(list.with([{ name, ref: { name, oid: oidOf(9_999), peeled: null } }]))
})

test('reads the protocol header as git does', () => {
  assert.equal(parseProtocolVersion(undefined), 0)
  assert.equal(parseProtocolVersion('version=1'), 1)
  assert.equal(parseProtocolVersion('version=2'), 2)
  assert.equal(parseProtocolVersion('version=9'), 0)
  assert.equal(parseProtocolVersion('trace=1:version=1:version=2'), 2)
})
