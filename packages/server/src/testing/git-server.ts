import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { createCloneCache } from '../git/clones/cache.ts'
import { cloneKey, runUploadPack } from '../git/clones/upload-pack.ts'
import type { Oid, RefName } from '../git/names.ts'
import { describeTips } from '../git/objects/push-facts.ts'
import { withObjects } from '../git/objects/reader.ts'
import { findBrokenTips, ingestPack, PackRejected, withQuarantine } from '../git/packs/intake.ts'
import { createLocalPackStore } from '../git/packs/pack-store.ts'
import { withWholePack } from '../git/packs/spooled-pack.ts'
import { createWorkingDirectories } from '../git/packs/working-directory.ts'
import { createGit, openRepo } from '../git/process/command.ts'
import {
  advertise,
  answerLsRefs,
  parseProtocolVersion,
  type Ref,
  type RefList,
  type Service,
} from '../git/protocol/advertisement.ts'
import { errorPacket, ProtocolError } from '../git/protocol/pkt-line.ts'
import { formatPushProgress, formatPushReport } from '../git/protocol/push-report.ts'
import { type Push, type PushCommand, readPush } from '../git/protocol/push-request.ts'
import { compareNames, SortedRefs } from '../git/protocol/sorted-refs.ts'
import { readUploadRequest } from '../git/protocol/upload-request.ts'
import { createPlaces } from '../platform/places.ts'

const headBranch = 'refs/heads/main' as RefName
const maxPackBytes = 8_000_000

export interface Served {
  name: string
  refs: Map<RefName, Ref>
  packIds: string[]
  version: number
  /** What the last push carried. */
  lastPush: Push | undefined
  productions: number
  gzipped: number
}

/** A small server made of the parts in `git/`, with refs in a map. */
export async function startGitServer(root: string) {
  const git = createGit({ pool: createPlaces({ size: 8 }) })
  const store = createLocalPackStore(join(root, 'store'))
  const directories = createWorkingDirectories()
  const cache = createCloneCache({ dir: join(root, 'cache'), maxBytes: 100_000_000 })

  const repositories = new Map<string, Served>()

  function create(name: string): Served {
    const served = {
      name,
      refs: new Map(),
      packIds: [],
      version: 0,
      lastPush: undefined,
      productions: 0,
      gzipped: 0,
    }
    repositories.set(name, served)
    return served
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://localhost')
    const [, name = '', ...rest] = url.pathname.split('/')
    const served = repositories.get(name) ?? create(name)
    const version = parseProtocolVersion(request.headers['git-protocol'] as string | undefined)
    if (rest.join('/') === 'info/refs') {
      const service = url.searchParams.get('service') as Service
      response.setHeader('Content-Type', `application/x-${service}-advertisement`)
      await send(response, await advertise(service, version, () => refList(served)))
      return
    }
    response.setHeader('Content-Type', `application/x-${rest[0]}-result`)
    const isGzipped = request.headers['content-encoding'] === 'gzip'
    if (isGzipped) served.gzipped++
    // Leaving the body half read must not close the connection before the client has heard why.
    const plain = isGzipped ? request.pipe(createGunzip()) : request
    const body: AsyncIterable<Uint8Array> = plain.iterator({ destroyOnReturn: false })
    response.once('finish', () => plain.resume())
    const contents = { dir: join(root, 'work', name), packIds: served.packIds, store }
    const snapshot = { headBranch, version: String(served.version), refs: () => refList(served).refs }
    const abort = new AbortController()
    response.once('close', () => abort.abort(new Error('the client left')))

    if (rest[0] === 'git-upload-pack') {
      const asked = await readUploadRequest(body, { version })
      if (asked.kind === 'nothing') return void response.end()
      if (asked.kind === 'ls-refs') return send(response, answerLsRefs(refList(served), asked.options))
      // The lease belongs to the production, which may outlive the client that caused it.
      const produce = async function* (signal: AbortSignal) {
        served.productions++
        using _lease = await directories.lease(contents)
        await directories.writeRefs(contents.dir, snapshot)
        yield* runUploadPack(openRepo(git, contents.dir, { owner: { id: name }, signal }), asked)
      }
      const key = asked.clone && cloneKey(asked.clone, { id: name, tagsVersion: snapshot.version })
      return send(response, key ? cache.read(key, produce, { signal: abort.signal }) : produce(abort.signal))
    }
    const push = await readPush(body)
    served.lastPush = push
    if (push.commands.length === 0) return void response.end()
    const repo = openRepo(git, contents.dir, { owner: { id: name }, signal: abort.signal })
    using _lease = await directories.lease(contents)
    await directories.writeRefs(contents.dir, snapshot)
    response.write(formatPushProgress(push.capabilities, 'Checking the push\n'))
    const outcome = await withQuarantine(repo, join(root, 'quarantine'), async (quarantined) => {
      let packId: string | undefined
      if (push.expectsPack) {
        const onProgress = (chunk: Buffer) =>
          void response.write(formatPushProgress(push.capabilities, chunk))
        const bounds = {
          dir: join(root, 'incoming'),
          maxBytes: maxPackBytes,
          takeRoom: () => true,
          signal: abort.signal,
        }
        const { hasObjects } = await withWholePack(push.pack, bounds, ({ input }) =>
          ingestPack(quarantined, { pack: input, onProgress }),
        )
        const tips = push.commands.flatMap((command) => command.after ?? [])
        const broken = await findBrokenTips(quarantined, tips)
        const peeled = await withObjects(quarantined, (objects) => describeTips(objects, tips))
        if (hasObjects && broken.size === 0) packId = (await store.adopt(quarantined.objectsDir)).packId
        return { packId, broken, peeled, unpackError: null }
      }
      return { packId, broken: new Set<Oid>(), peeled: new Map(), unpackError: null }
    }).catch((error: unknown) => {
      if (!(error instanceof PackRejected)) throw error
      return { packId: undefined, broken: new Set<Oid>(), peeled: new Map(), unpackError: error.message }
    })
    const judge = (command: PushCommand): string | null => {
      if (!command.ref) return command.problem
      if (outcome.unpackError !== null) return 'unpacker error'
      if ((served.refs.get(command.ref)?.oid ?? null) !== command.before) return 'fetch first'
      if (command.after && outcome.broken.has(command.after)) return 'missing necessary objects'
      return null
    }
    let results = push.commands.map((command) => ({ command, error: judge(command) }))
    if (push.capabilities.atomic && results.some(({ error }) => error !== null))
      results = results.map(({ command, error }) => ({ command, error: error ?? 'atomic push failure' }))
    if (outcome.packId) served.packIds = [...served.packIds, outcome.packId]
    for (const { command, error } of results) {
      if (error !== null || !command.ref) continue
      const { ref, after: oid } = command
      if (oid) served.refs.set(ref, { name: ref, oid, peeled: outcome.peeled.get(oid)?.peeled ?? null })
      else served.refs.delete(ref)
    }
    served.version++
    response.end(
      formatPushReport({ capabilities: push.capabilities, unpackError: outcome.unpackError, results }),
    )
  }

  const failures: unknown[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof ProtocolError) response.end(errorPacket(error.message))
      else if (!response.closed) {
        failures.push(error)
        response.destroy()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    repositories,
    /** Lays a repository out as git has it, and gives the place. */
    async layOut(served: Served): Promise<string> {
      const dir = join(root, 'work', served.name)
      await directories.ensure({ dir, packIds: served.packIds, store })
      await directories.writeRefs(dir, { headBranch, version: 'last', refs: () => refList(served).refs })
      return dir
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      cache.close()
      assert.deepEqual(failures, [])
    },
  }
}

export function refList({ refs }: Served): RefList {
  const sorted = SortedRefs.of([...refs.values()].sort((a, b) => compareNames(a.name, b.name)))
  return { headBranch, headOid: refs.get(headBranch)?.oid ?? null, refs: sorted }
}

/** Nothing is sent before the first chunk is there, so that a refusal can still be told. */
async function send(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const left = new AbortController()
  response.once('close', () => left.abort())
  for await (const chunk of chunks) {
    if (!response.write(chunk)) await once(response, 'drain', { signal: left.signal }).catch(() => {})
    if (response.destroyed) return
  }
  response.end()
}
