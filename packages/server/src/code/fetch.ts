import type { CloneCache } from '../git/clones/cache.ts'
import { cloneKey, runUploadPack, writeUploadPack } from '../git/clones/upload-pack.ts'
import type { WriteAnswer } from '../git/clones/written-spool.ts'
import { advertise, answerLsRefs, type ProtocolVersion, type Service } from '../git/protocol/advertisement.ts'
import { type FetchRequest, readUploadRequest } from '../git/protocol/upload-request.ts'
import type { RepoRow } from '../repos/service.ts'
import { createRefAnswers } from './ref-answers.ts'
import type { Repositories } from './repositories.ts'

export type Bytes = AsyncIterable<Uint8Array>

/** What is told of them can be kept. */
const FEW_REFS = 200

export type FetchService = ReturnType<typeof createFetchService>

/** What clients read: the list of refs, from the database, and packs, from git or from the last who asked the same. */
export function createFetchService({
  repositories,
  cache,
}: {
  repositories: Repositories
  cache: CloneCache
}) {
  const refAnswers = createRefAnswers()

  /** It may come out larger than what is stored. */
  const mostBytesOf = (repo: RepoRow) => repo.size_bytes * 2

  async function* fetch(
    repo: RepoRow,
    request: FetchRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    // The lease belongs to the production, which may outlive the client that caused it.
    const produce = async function* (stop: AbortSignal) {
      using _lease = await repositories.lease(repo)
      try {
        yield* runUploadPack(repositories.openLeased(repo, stop), request)
      } catch (error) {
        throw await repositories.diagnose(repo, error)
      }
    }
    // What was kept may have been made before anybody knew.
    await repositories.requireSound(repo)
    if (!request.clone) {
      yield* produce(signal)
      return
    }
    const key = cloneKey(request.clone, { id: repo.id, tagsVersion: String(repo.refs_version) })
    const asked = { signal, expectedBytes: mostBytesOf(repo) }
    if (asked.expectedBytes > cache.maxEntryBytes) {
      yield* cache.read(key, produce, asked)
      return
    }
    const write: WriteAnswer = async (file, stop) => {
      using _lease = await repositories.lease(repo)
      await writeUploadPack(repositories.openLeased(repo, stop), request, file).catch(
        async (error: unknown) => {
          throw await repositories.diagnose(repo, error)
        },
      )
    }
    yield* cache.readWritten(key, { write, otherwise: produce }, asked)
  }

  return {
    advertise: (repo: RepoRow, service: Service, version: ProtocolVersion): Promise<Iterable<Buffer>> =>
      advertise(service, version, () => repositories.refList(repo)),

    /** Answers a POST that has been answered before, in the same words, if nothing has moved since. */
    async repeatUploadPack(repo: RepoRow, body: Buffer): Promise<Buffer | undefined> {
      return refAnswers.find(repo, await repositories.refList(repo), body)
    },

    /** Answers a POST to git-upload-pack; undefined when there is nothing to say. `whole`: the body, if it is all here. */
    async uploadPack(
      repo: RepoRow,
      body: Bytes,
      {
        version,
        signal,
        whole,
      }: { version: ProtocolVersion; signal: AbortSignal; whole?: Buffer | undefined },
    ): Promise<Bytes | Iterable<Buffer> | undefined> {
      const request = await readUploadRequest(body, { version })
      switch (request.kind) {
        case 'nothing':
          return undefined
        case 'ls-refs': {
          const list = await repositories.refList(repo)
          const answer = answerLsRefs(list, request.options)
          if (!whole || list.refs.length > FEW_REFS) return answer
          const told = Buffer.concat([...answer])
          refAnswers.keep(repo, list, whole, told)
          return [told]
        }
        case 'fetch':
          return fetch(repo, request, signal)
      }
    },
  }
}
