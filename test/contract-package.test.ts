import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { build, transform } from 'esbuild'
import { launchBrowser, noBrowserHere } from './access/browser.ts'
import { findNode } from './older-node.ts'
import { ownEnvironment, type PackedContract, packContract } from './packed-contract.ts'
import { ownerKeyIn, type ServerProcess, startServer } from './server-process.ts'

const run = promisify(execFile)
const TSC = resolve(import.meta.dirname, '../node_modules/.bin/tsc')
const CONSUMER = join(import.meta.dirname, 'contract-consumer.ts')

describe('the packed contract, in an empty project', { timeout: 300_000 }, () => {
  let data: string
  let packed: PackedContract
  let server: ServerProcess
  let key: string
  /** Another site than the server's, with a page that has the bundle. */
  let site: Server
  let bundle = ''

  before(async () => {
    data = await mkdtemp(join(tmpdir(), 'trellis-process-'))
    site = createServer(({ url }, response) => {
      const isBundle = url === '/bundle.js'
      response
        .writeHead(200, { 'content-type': isBundle ? 'text/javascript' : 'text/html' })
        .end(isBundle ? bundle : '<!doctype html><title>Somebody</title>')
    })
    await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready))
    ;[packed, server] = await Promise.all([
      packContract(),
      startServer(data, { TRELLIS_CORS_ORIGINS: origin() }),
    ])
    key = await ownerKeyIn(data)
    await copyFile(CONSUMER, join(packed.project, 'consumer.ts'))
  })
  after(async () => {
    site.close()
    await server?.kill()
    await packed?.remove()
    await rm(data, { recursive: true, force: true })
  })

  const origin = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  const expected = (name: string) => ({
    version: '0.7.0',
    made: name,
    listed: true,
    nextCursor: null,
    taken: { status: 409, message: 'Repo already exists', name },
    wrong: 'BAD_REQUEST',
    valid: false,
  })

  it('is JavaScript with declarations, a licence, a word of its own, and nothing else', async () => {
    const { stdout } = await run('tar', ['-tzf', packed.tarball])
    const files = stdout.trim().split('\n').toSorted()
    const modules = files.flatMap((file) => /^package\/dist\/(.+)\.js$/.exec(file)?.[1] ?? [])
    assert.ok(modules.includes('index') && modules.includes('client'))
    assert.deepEqual(
      files,
      [
        'package/LICENSE',
        'package/README.md',
        'package/package.json',
        ...modules.flatMap((name) => [`package/dist/${name}.js`, `package/dist/${name}.d.ts`]),
      ].toSorted(),
    )
    const manifest = JSON.parse(
      await readFile(join(packed.project, 'node_modules/@trellis/contract/package.json'), 'utf8'),
    )
    assert.deepEqual(Object.keys(manifest.dependencies), [
      '@orpc/client',
      '@orpc/contract',
      '@orpc/openapi-client',
      'zod',
    ])
    assert.deepEqual(
      [manifest.private, manifest.scripts, manifest.license, manifest.engines, manifest.sideEffects],
      [undefined, undefined, 'Apache-2.0', { node: '>=20' }, false],
    )
  })

  for (const major of [20, 26])
    it(`talks to a server from Node ${major}`, async (test) => {
      const node = major === 26 ? process.execPath : await findNode(major)
      if (!node) return test.skip(`there is no Node ${major} here, and none to be had from npm`)
      const { code } = await transform(await readFile(CONSUMER, 'utf8'), { loader: 'ts' })
      await writeFile(join(packed.project, 'consumer.js'), code)
      const main = `import('./consumer.js')
        .then(({ tryOut }) => tryOut(...process.argv.slice(1)))
        .then((result) => console.log(JSON.stringify({ node: process.versions.node, ...result })))`
      const name = `from-node-${major}`
      const { stdout } = await run(node, ['--input-type=module', '-e', main, server.url, key, name], {
        cwd: packed.project,
        env: ownEnvironment(),
      })
      const { node: ran, ...result } = JSON.parse(stdout)
      assert.ok(ran.startsWith(`${major}.`), ran)
      assert.deepEqual(result, expected(name))
    })

  for (const [module, moduleResolution, skipLibCheck] of [
    ['nodenext', 'nodenext', false],
    ['esnext', 'bundler', true],
  ] as const)
    it(`has types that hold in a strict program under ${moduleResolution}`, async () => {
      const config = join(packed.project, `tsconfig.${moduleResolution}.json`)
      const compilerOptions = {
        module,
        moduleResolution,
        target: 'es2022',
        lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
        types: [],
        strict: true,
        skipLibCheck,
        noEmit: true,
      }
      await writeFile(config, JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
      const { stdout } = await run(TSC, ['-p', config]).catch((error: { stdout: string }) => error)
      // oRPC's own types name a package that is optional, and not there.
      const known = /@orpc\/shared\/.* Cannot find module '@opentelemetry\/api'/
      const problems = stdout.split('\n').filter((line) => line !== '' && !known.test(line))
      assert.deepEqual(problems, [])
    })

  it('is bundled for browsers without anything of Node, and works with what a browser has', async () => {
    const { outputFiles, metafile, warnings } = await build({
      absWorkingDir: packed.project,
      entryPoints: ['consumer.ts'],
      bundle: true,
      platform: 'browser',
      format: 'esm',
      minify: true,
      metafile: true,
      write: false,
    })
    bundle = outputFiles[0]?.text ?? ''
    assert.deepEqual(warnings, [])
    assert.deepEqual(
      Object.values(metafile.outputs).flatMap(({ imports }) => imports),
      [],
    )
    assert.doesNotMatch(bundle, /["'`]node:|\brequire\(|\bprocess\.|\bBuffer\b/)

    const { code } = await transform(bundle, { format: 'iife', globalName: 'consumer' })
    const browserLike = createContext({
      ...{ fetch, Request, Response, Headers, FormData, Blob, File, URL, URLSearchParams },
      ...{ AbortController, AbortSignal, ReadableStream, TransformStream, TextDecoderStream },
      ...{ TextDecoder, TextEncoder, setTimeout, clearTimeout },
    })
    runInContext(code, browserLike)
    const call = `consumer.tryOut(${JSON.stringify(server.url)}, ${JSON.stringify(key)}, 'from-nowhere')`
    const result = await runInContext(`${call}.then((result) => JSON.stringify(result))`, browserLike)
    assert.deepEqual(JSON.parse(result), expected('from-nowhere'))
  })

  it('talks to a server from a page of another site', { skip: noBrowserHere }, async () => {
    assert.ok(bundle)
    const browser = await launchBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(origin())
      const args = [server.url, key, 'from-a-browser'].map((arg) => JSON.stringify(arg)).join(', ')
      const result = await page.evaluate(`import('/bundle.js').then(({ tryOut }) => tryOut(${args}))`)
      assert.deepEqual(result, expected('from-a-browser'))
    } finally {
      await browser.close()
    }
  })
})
