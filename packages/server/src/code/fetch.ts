import { advertise, lsRefs, type ProtocolVersion, type Service } from '../git/advertisement.ts'
import type { CloneCache } from '../git/clone-cache.ts'
import { cloneKey, type FetchRequest, readUploadRequest, runUploadPack } from '../git/upload-pack.ts'
import type { RepoRow } from '../repos/service.ts'
import type { Repositories } from './repositories.ts'

export type Bytes = AsyncIterable<Uint8Array>

export type FetchService = ReturnType<typeof createFetchService>

/** What clients read: the list of refs, from the database, and packs, from git or from the last who asked the same. */
export function createFetchService({
  repositories,
  cache,
}: {
  repositories: Repositories
  cache: CloneCache
}) {
  function fetch(repo: RepoRow, request: FetchRequest, signal: AbortSignal): Bytes {
    // The lease belongs to the production, which may outlive the client that caused it.
    const produce = async function* (stop: AbortSignal) {
      using _lease = await repositories.lease(repo)
      yield* runUploadPack(repositories.handle(repo, stop), request)
    }
    if (!request.clone) return produce(signal)
    const version = String(repo.refs_version)
    return cache.read(cloneKey(request.clone, { id: repo.id, tagsVersion: version }), produce, signal)
  }

  return {
    advertise: (repo: RepoRow, service: Service, version: ProtocolVersion): Promise<Iterable<Buffer>> =>
      advertise(service, version, () => repositories.refList(repo)),

    /** Answers a POST to git-upload-pack; undefined when there is nothing to say. */
    async uploadPack(
      repo: RepoRow,
      body: Bytes,
      { version, signal }: { version: ProtocolVersion; signal: AbortSignal },
    ): Promise<Bytes | Iterable<Buffer> | undefined> {
      const request = await readUploadRequest(body, { version })
      switch (request.kind) {
        case 'nothing':
          return undefined
        case 'ls-refs':
          return lsRefs(await repositories.refList(repo), request.options)
        case 'fetch':
          return fetch(repo, request, signal)
      }
    },
  }
}
