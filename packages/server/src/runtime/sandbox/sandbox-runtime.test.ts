import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { build } from 'esbuild'
import { sandboxesInSuite } from '../../testing/sandboxes.ts'
import { findSandbox } from './find.ts'

describe('the sandbox', { concurrency: true }, () => {
  const sandboxes = sandboxesInSuite()
  const run: typeof sandboxes.run = (...args) => sandboxes.run(...args)

  it('runs a module in the tree of its commit, with a ctx, and keeps nothing', async (t) => {
    const asked: unknown[] = []
    const ran = await run(
      t,
      `
      fs.writeFileSync('folder/file', 'changed')
      fs.rmSync('link')
      fs.writeFileSync('/tmp/mine', 'x')
      console.log('one', { two: 2 })
      console.error('bad')
      await ctx.repo.list('folder')
      process.stdout.write('written\\r\\n')
      execFileSync('/bin/sh', ['-c', 'echo child >&2'], { stdio: 'inherit' })
      const file = execFileSync('cat', ['folder/file'], { encoding: 'utf8' })
      return { cwd: process.cwd(), file, input, run: ctx.run.commitSha, keys: Object.keys(ctx).sort(),
        node: execFileSync('node', ['-p', '1 + 1'], { encoding: 'utf8' }),
        refused: await ctx.repo.readText('missing').catch((error) => [error.code, error.data]) }
      `,
      {
        input: { a: 1 },
        capabilities: ['repo:read'],
        async call(method, args) {
          asked.push([method, ...args])
          if (method === 'repo.readText')
            throw Object.assign(new Error('no'), { code: 'GIT_OBJECT_NOT_FOUND', data: { ref: 'x' } })
          return []
        },
      },
    )
    if (!ran) return
    assert.deepEqual(ran.outcome, {
      kind: 'returned',
      output: {
        ...{ cwd: '/repo', file: 'changed', input: { a: 1 }, run: 'a'.repeat(40), node: '2\n' },
        keys: ['log', 'repo', 'run', 'signal'],
        refused: ['GIT_OBJECT_NOT_FOUND', { ref: 'x' }],
      },
      exitCode: 0,
    })
    assert.deepEqual(asked, [
      ['repo.list', 'folder'],
      ['repo.readText', 'missing'],
    ])
    const spoken = ran.lines.map(({ level, message }) => `${level} ${message}`)
    assert.deepEqual(spoken.toSorted(), ['error bad', 'error child', 'info one {"two":2}', 'info written'])
    for (const on of [sandboxes.runtime, sandboxes.plain]) {
      const read = `return fs.readFileSync('folder/file', 'utf8') + fs.readdirSync('/tmp')`
      const next = await run(t, read, { on })
      assert.equal(next?.outcome.kind === 'returned' && next.outcome.output, 'committed')
    }
  })

  it('reaches nothing of the machine, the server or the network', async (t) => {
    const ran = await run(
      t,
      `
      const read = (path) => tried(() => fs.readFileSync(path, 'utf8').slice(0, 100))
      const write = (path) => tried(() => fs.writeFileSync(path, 'x'))
      const link = (path) => { try { return fs.readlinkSync(path) } catch { return '' } }
      const connected = (to) => new Promise((resolve) => {
        net.connect(to, () => resolve('connected')).on('error', ({ code }) => resolve(code))
      })
      const own = fs.readdirSync('/proc/self/fd').map((fd) => link('/proc/self/fd/' + fd))
      const childs = sh('for fd in /proc/$$/fd/*; do readlink $fd; done').stdout.trim().split('\\n')
      const first = fs.readFileSync('/proc/1/environ', 'latin1') + fs.readFileSync('/proc/1/cmdline', 'latin1')
      const perl = (script) => sh('perl -e \\'' + script + '; print "$!"\\'').stdout
      return {
        who: [os.userInfo().username, process.getuid(), os.hostname(), os.getPriority(), Number(fs.readFileSync('/proc/self/oom_score_adj', 'latin1'))],
        env: Object.keys(process.env).sort(),
        read: await Promise.all(['link', 'up', '/etc/shadow', '/proc/${process.pid}/environ'].map(read)),
        folders: ['/root', '/home', '/var', '/srv', '/opt', '/sys', '/tmp/node', ${JSON.stringify(sandboxes.directory)}].filter((path) => fs.existsSync(path)),
        files: own.filter((fd) => fd.startsWith('/') && !/^\\/dev\\/null|^\\/proc/.test(fd)),
        inherited: [3, 4].filter((fd) => childs.includes(link('/proc/self/fd/' + fd))),
        childs: childs.filter((fd) => !/^(socket:|pipe:|\\/dev\\/null|\\/proc)/.test(fd)),
        strangers: fs.readdirSync('/proc').filter((name) => Number(name) > 100),
        first: first.includes('TRELLIS') || first.includes(${JSON.stringify(sandboxes.directory)}),
        write: await Promise.all(['/usr/x', '/etc/x', '/x', '/dev/x', '/run/trellis/inside/x', '/proc/sys/kernel/core_pattern'].map(write)),
        kill: await tried(() => process.kill(${process.pid}, 0)),
        net: await Promise.all([{ port: 22 }, { host: '169.254.169.254', port: 80 }, { host: '::1', port: 22 }, { path: '\\0/tmp/.X11-unix/X0' }].map(connected)),
        fetch: await tried(() => fetch('http://example.com/')),
        interfaces: Object.keys(os.networkInterfaces()),
        privileged: [sh('mount -t tmpfs x /tmp').status, sh('unshare -Ur true').status, sh('mknod /tmp/sda b 8 0').status].includes(0),
        root: sh('su -c id -u root; sudo id -u; id -u').stdout,
        status: fs.readFileSync('/proc/self/status', 'latin1').match(/^(CapEff|CapBnd|NoNewPrivs|Seccomp):.*$/gm),
        virtualMachine: perl('socket(S, 40, 1, 0)') || 'Address family not supported by protocol',
      }
      `,
      { capabilities: ['net:example.com'] },
    )
    if (!ran) return
    assert.deepEqual(ran.outcome, {
      kind: 'returned',
      output: {
        who: ['sandbox', 1000, 'sandbox', 5, 1000],
        env: ['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR', 'USER'],
        read: ['ENOENT', 'ENOENT', 'ENOENT', 'ENOENT'],
        ...{ folders: [], files: [], inherited: [], childs: [], strangers: [], first: false },
        write: ['EROFS', 'EROFS', 'EROFS', 'EROFS', 'EROFS', 'EACCES'],
        kill: 'ESRCH',
        net: ['ECONNREFUSED', 'ENETUNREACH', 'ECONNREFUSED', 'ECONNREFUSED'],
        ...{ fetch: 'fetch failed', interfaces: ['lo'], privileged: false, root: '1000\n' },
        status: ['CapEff:\t0000000000000000', 'CapBnd:\t0000000000000000', 'NoNewPrivs:\t1', 'Seccomp:\t2'],
        virtualMachine: 'Address family not supported by protocol',
      },
      exitCode: 0,
    })
  })

  it('says how it ended: by a return, an error, or as the module exits', async (t) => {
    const outcomeOf = async (body: string) => (await run(t, body))?.outcome
    const [quiet, exited, rejected, uncaught, stuck, signal, listener] = await Promise.all([
      outcomeOf('console.log("last words"); process.exit(0)'),
      outcomeOf('process.exit(3)'),
      outcomeOf(
        'Promise.reject(new RangeError("left alone")); await new Promise((go) => setTimeout(go, 1e6))',
      ),
      outcomeOf(
        'setTimeout(() => { throw new Error("late") }, 1); await new Promise((go) => setTimeout(go, 1e6))',
      ),
      outcomeOf('await new Promise(() => {})'),
      outcomeOf('process.kill(process.pid, "SIGKILL"); await new Promise((go) => setTimeout(go, 1e6))'),
      outcomeOf('process.on("exit", () => process.exit(4)); return 1'),
    ])
    if (!quiet) return
    assert.deepEqual(quiet, { kind: 'returned', exitCode: 0 })
    assert.deepEqual(exited, { kind: 'ended', error: 'It exited with status 3', exitCode: 3 })
    assert.equal(rejected?.kind === 'threw' && rejected.error, 'RangeError: left alone')
    assert.equal(uncaught?.kind === 'threw' && uncaught.error, 'Error: late')
    assert.match(String(stuck?.kind === 'ended' && stuck.error), /can never happen/)
    assert.deepEqual(signal, { kind: 'ended', error: 'It exited with SIGKILL', exitCode: 137 })
    assert.deepEqual(listener, { kind: 'ended', error: 'It exited with status 4', exitCode: 4 })
  })

  it('says nothing of a secret in which it is cut off', async (t) => {
    const body = `
      console.log('x'.repeat(475) + ctx.secrets.TOKEN + 'x'.repeat(100))
      process.stdout.write('y'.repeat(480) + ctx.secrets.TOKEN + 'y'.repeat(100))
      throw new Error('x'.repeat(3_985) + ctx.secrets.TOKEN)`
    const secrets = { TOKEN: '0123456789abcdef' }
    const ran = await run(t, body, { secrets, capabilities: ['secret:TOKEN'] })
    if (!ran) return
    assert.match(String(ran.outcome.kind === 'threw' && ran.outcome.error), /^Error: x+\*\*\*$/)
    assert.equal(ran.lines.length, 2)
    assert.ok(!JSON.stringify(ran.lines).includes('012'), JSON.stringify(ran.lines))
  })

  it('tells of errors in the lines of the author', async (t) => {
    const contents = `interface Input { a: number }\n\nexport default function (input: Input) {\n  throw new TypeError('no')\n}\n`
    const { outputFiles } = await build({
      stdin: { contents, loader: 'ts', sourcefile: 'extensions/x/index.ts' },
      ...{ bundle: true, write: false, format: 'esm', sourcemap: 'external', outfile: '/nonexistent/x.js' },
      absWorkingDir: '/nonexistent',
    })
    const [sourceMap, code] = outputFiles.map(({ text }) => text)
    const ran = await run(t, '', { module: { hash: 'mapped', code: code ?? '', sourceMap } })
    if (!ran) return
    assert.equal(ran.outcome.kind, 'threw')
    const { error, stack, exitCode } = ran.outcome as { error: string; stack: string; exitCode: number }
    assert.deepEqual([error, exitCode], ['TypeError: no', 1])
    assert.match(stack, /^TypeError: no\n +at x_default \(extensions\/x\/index\.ts:4:9\)/)
    assert.doesNotMatch(stack, /wrapper|trellis/)
  })

  it('is off where there is no bubblewrap, and says how to turn it on', async () => {
    const directory = join(tmpdir(), 'trellis-no-sandbox')
    const found = await findSandbox({ directory, hidden: [], places: ['/nonexistent'] })
    assert.ok(!found.available)
    assert.match(found.reason, /apt install bubblewrap/)
  })
})
