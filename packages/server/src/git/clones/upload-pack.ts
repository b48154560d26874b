// A fetch that needs objects is answered by git's own upload-pack.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { parseFilePath } from '../names.ts'
import { inBursts } from '../process/bursts.ts'
import { GitError, type OpenRepo } from '../process/command.ts'
import { MAX_PACKET_BYTES, ProtocolError, packetText } from '../protocol/pkt-line.ts'
import type { CloneRequest, FetchRequest } from '../protocol/upload-request.ts'

/** The name under which the answer to a clone may be kept and given to others with access to the repository. */
export function cloneKey(clone: CloneRequest, repository: { id: string; tagsVersion: string }): string {
  const parts = [clone.digest, repository.id, clone.followsTags ? repository.tagsVersion : '']
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/**
 * git's answer as it is made. Throws ProtocolError before the first byte when git refuses the request, and
 * anything else when the answer is broken: what was received by then is no whole answer.
 */
export async function* runUploadPack(
  repo: OpenRepo,
  request: FetchRequest,
): AsyncGenerator<Buffer, void, undefined> {
  await using child = await repo.start(commandFor(repo, request))
  let start: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of inBursts(child.stdout)) {
    if (!start) {
      yield chunk
      continue
    }
    start = Buffer.concat([start, chunk])
    throwRefusal(start)
    if (!isAnswer(start)) continue
    yield start
    start = undefined
  }
  await child.done.catch((error: unknown) => throwFailure(error, start))
  if (start?.length) yield start
}

/** Has git write its answer into a file. Throws what `runUploadPack` does, at the end. */
export async function writeUploadPack(
  repo: OpenRepo,
  request: FetchRequest,
  file: FileHandle,
): Promise<void> {
  const running = repo.run({ ...commandFor(repo, request), into: file.fd })
  const failure = await running.then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_PACKET_BYTES), 0, MAX_PACKET_BYTES, 0)
  const start = buffer.subarray(0, bytesRead)
  throwRefusal(start)
  if (failure) throwFailure(failure.error, isAnswer(start) ? undefined : start)
}

function commandFor({ gitDir }: OpenRepo, { body, version }: FetchRequest) {
  const path = parseFilePath(gitDir)
  if (!path) throw new RangeError('the directory must be an absolute path')
  return {
    verb: 'upload-pack',
    options: ['--stateless-rpc', '--strict'],
    values: [path],
    stdin: body,
    protocolVersion: version,
  } as const
}

const REFUSAL_START = '0000ERR '.length
/** Said before git finds out that nothing is left of a shallow clone, and ends. */
const HEADING = '0011shallow-info\n'

/** From so many bytes on it can be told whether git answers. */
export const ANSWER_START = HEADING.length + 1

export function isAnswer(start: Buffer): boolean {
  const text = start.toString('latin1', 0, ANSWER_START)
  return text.length >= REFUSAL_START && !isRefusal(text) && !HEADING.startsWith(text)
}

const isRefusal = (start: string): boolean => start.startsWith('ERR ', 4)

function throwRefusal(start: Buffer): void {
  if (!isRefusal(start.toString('latin1', 0, REFUSAL_START))) return
  const end = Number.parseInt(start.toString('latin1', 0, 4), 16)
  throw new ProtocolError(packetText(start.subarray(REFUSAL_START, end)))
}

/** `start`: what git has said, if that is no answer yet. */
function throwFailure(error: unknown, start: Buffer | undefined): never {
  // Without a word for the client, git has not understood the request, or has nothing to give.
  const isSilent = start && HEADING.startsWith(start.toString('latin1'))
  if (!isSilent || !(error instanceof GitError) || error.exitCode === null) throw error
  const words = /no commits selected for shallow requests/.exec(error.stderr)?.[0]
  throw new ProtocolError(words ?? 'upload-pack refused the request', { cause: error })
}
