import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createTestRepo, type TestRepo } from '../../testing/git-repo.ts'
import { createGit, openRepo } from '../process/command.ts'
import { type ImportRequest, importRemote } from './remote-import.ts'

const git = createGit()

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/repo.git`,
    [Symbol.dispose]: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Just enough of the smart protocol to be cloned from. */
function smart(t: TestRepo): RequestListener {
  return (request, response) => {
    const advertise = request.method === 'GET'
    const kind = advertise ? 'advertisement' : 'result'
    response.setHeader('content-type', `application/x-git-upload-pack-${kind}`)
    const protocol = String(request.headers['git-protocol'] ?? '')
    const options = ['--stateless-rpc', ...(advertise ? ['--http-backend-info-refs'] : [])]
    const child = spawn('git', ['upload-pack', ...options, t.gitDir], {
      env: { PATH: '/usr/bin:/bin', GIT_PROTOCOL: protocol, HOME: '/nonexistent' },
    })
    child.stdin.on('error', () => {})
    if (advertise && protocol !== 'version=2') response.write('001e# service=git-upload-pack\n0000')
    request.pipe(child.stdin)
    child.stdout.pipe(response)
    response.once('close', () => child.kill())
  }
}

interface Case extends Partial<ImportRequest> {
  url: string
}

async function importing(request: Case, runner = git) {
  const scratch = mkdtempSync(join(tmpdir(), 'trellis-import-'))
  try {
    const limits = { maxBytes: 50_000_000, timeoutMs: 20_000, allowHttp: true }
    const result = await importRemote(runner, { scratch, ...limits, ...request })
    const repo = openRepo(git, join(scratch, 'import.git'))
    const fsck =
      result.objectsDir === undefined
        ? undefined
        : (await repo.run({ verb: 'fsck', options: ['--full', '--strict'] })).exitCode
    return { ...result, fsck }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const fails = (request: Case, reason: string, runner = git) =>
  assert.rejects(importing(request, runner), (error: Error & { reason?: string }) => {
    assert.deepEqual([error.name, error.reason, error.cause], ['ImportError', reason, undefined])
    assert.equal(error.message, `the import failed: ${reason}`)
    return true
  })

function filledRepo(): TestRepo {
  const t = createTestRepo()
  const tip = t.commit({ b: 'b' }, t.commit({ a: 'a' }))
  t.git(['update-ref', 'refs/heads/trunk', tip])
  t.git(['update-ref', 'refs/heads/ünï/code', tip])
  t.git(['update-ref', 'refs/pull/1/head', t.commit({ hidden: 'x' })])
  t.git(['tag', 'light', tip])
  t.git(['tag', '-a', '-m', 'inner', 'inner', tip])
  t.git(['-c', 'advice.nestedTag=false', 'tag', '-a', '-m', 'outer', 'outer', 'inner'])
  t.git(['symbolic-ref', 'HEAD', 'refs/heads/trunk'])
  return t
}

function assertImported(t: TestRepo, imported: Awaited<ReturnType<typeof importing>>) {
  const shown = imported.refs.flatMap(({ name, oid, peeled }) => [
    `${oid} ${name}`,
    ...(peeled ? [`${peeled} ${name}^{}`] : []),
  ])
  assert.deepEqual(shown.join('\n'), t.git(['show-ref', '-d', '--heads', '--tags']))
  assert.equal(imported.defaultBranch, 'refs/heads/trunk')
  assert.equal(imported.fsck, 0)
}

test('takes branches and tags with their objects as one pack, and nothing else', async () => {
  using t = filledRepo()
  using server = await serve(smart(t))
  const progress: number[] = []
  const imported = await importing({ url: server.url, onProgress: ({ percent }) => progress.push(percent) })
  assertImported(t, imported)
  assert(imported.objectsDir)
  assert(progress.includes(100))
})

test('takes a repository that is served as plain files', async () => {
  using t = filledRepo()
  t.git(['update-server-info'])
  using server = await serve((request, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname.replace('/repo.git/', '')
    try {
      response.end(readFileSync(join(t.gitDir, path)))
    } catch {
      response.writeHead(404).end()
    }
  })
  assertImported(t, await importing({ url: server.url }))
})

test('an empty repository has a default branch, no refs and no pack', async () => {
  using t = createTestRepo()
  using server = await serve(smart(t))
  const imported = await importing({ url: server.url })
  assert.deepEqual(imported, {
    refs: [],
    defaultBranch: 'refs/heads/main',
    objectsDir: undefined,
    fsck: undefined,
  })
})

test('shows credentials to the remote alone', async () => {
  using t = filledRepo()
  const seen: (string | undefined)[] = []
  const backend = smart(t)
  using server = await serve((request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.headers.authorization)
    if (request.headers.authorization === `Basic ${btoa('me:s3cret')}`) backend(request, response)
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
  })
  const record = join(t.root, 'arguments')
  const binary = join(t.root, 'recording-git')
  writeFileSync(binary, `#!/bin/sh\necho "$@" >>${record}\nexec git "$@"\n`, { mode: 0o755 })
  const recording = createGit({ binary })
  const credentials = { username: 'me', password: 's3cret' }
  assertImported(t, await importing({ url: server.url, credentials }, recording))
  assertImported(t, await importing({ url: server.url.replace('//', '//me:s3cret@') }, recording))
  assert.doesNotMatch(readFileSync(record, 'utf8'), /s3cret|127\.0\.0\.1/)
  await fails({ url: server.url }, 'authentication')
  await fails({ url: server.url, credentials: { ...credentials, password: 'wrong' } }, 'authentication')
})

test('connects to the address it is given and follows no redirect', async () => {
  using t = filledRepo()
  using server = await serve(smart(t))
  const named = `http://git.example.invalid:${server.port}/repo.git`
  assertImported(t, await importing({ url: named, address: '127.0.0.1' }))
  await fails({ url: named }, 'unreachable')
  using elsewhere = await serve((_, response) =>
    response.writeHead(302, { location: `${server.url}/info/refs` }).end(),
  )
  await fails({ url: elsewhere.url }, 'failed')
})

test('refuses other protocols and odd addresses before anything starts', async () => {
  const none = createGit({ binary: '/nonexistent' })
  for (const url of [
    'file:///etc',
    'ssh://x/y',
    'git://x/y',
    'ext::sh -c id',
    '/tmp',
    '-x',
    'https://x/y?z',
    'https://%zz@x/y',
    'https://x/\n',
  ]) {
    await fails({ url }, 'invalid_url', none)
  }
  await fails({ url: 'http://127.0.0.1/x', allowHttp: false }, 'invalid_url', none)
})

test('tells why it failed in one word', async () => {
  using missing = await serve((_, response) => response.writeHead(404).end('secret words'))
  await fails({ url: missing.url }, 'not_a_repository')
  using page = await serve((_, response) => response.end('<html>hello</html>'))
  await fails({ url: page.url }, 'not_a_repository')
  using lines = await serve((_, response) => response.end('<html>\nhello\n</html>\n'))
  await fails({ url: lines.url }, 'not_a_repository')
  using broken = await serve((_, response) => response.writeHead(500).end())
  await fails({ url: broken.url }, 'failed')
  await fails({ url: 'http://127.0.0.1:1/x' }, 'unreachable')
  using silent = await serve(() => {})
  await fails({ url: silent.url, timeoutMs: 300 }, 'timeout')
})

test('stops when the remote is too large', async () => {
  using t = createTestRepo()
  t.git(['update-ref', 'refs/heads/main', t.commit({ big: randomBytes(1_500_000).toString('hex') })])
  using server = await serve(smart(t))
  await fails({ url: server.url, maxBytes: 1_000_000 }, 'too_large')
})

test('an abort is the abort, not a failure', async () => {
  using silent = await serve(() => {})
  const signal = AbortSignal.timeout(200)
  await assert.rejects(importing({ url: silent.url, signal }), { name: 'TimeoutError' })
})

test('does not take a repository of another object format', async () => {
  using t = createTestRepo()
  t.git(['init', '-q', '--bare', '--object-format=sha256', join(t.root, 'other.git')])
  const other = { ...t, gitDir: join(t.root, 'other.git') }
  const commit = t.git(
    ['--git-dir', other.gitDir, 'commit-tree', t.git(['--git-dir', other.gitDir, 'mktree'], '')],
    'm',
  )
  t.git(['--git-dir', other.gitDir, 'update-ref', 'refs/heads/main', commit])
  using server = await serve(smart(other))
  await fails({ url: server.url }, 'unsupported')
})

test('says so when this git cannot speak HTTP', async () => {
  using t = createTestRepo()
  const empty = join(t.root, 'empty')
  mkdirSync(empty)
  const binary = join(t.root, 'git-without-http')
  writeFileSync(binary, `#!/bin/sh\nexec git --exec-path=${empty} "$@"\n`, { mode: 0o755 })
  await fails({ url: 'https://127.0.0.1:1/x' }, 'unsupported', createGit({ binary }))
})
