import type { OutgoingHttpHeaders } from 'node:http'
import { type Exchange, send } from '../http/exchange.ts'
import { Refusal } from '../http/failure.ts'

const PATH = /^\/git\/[^/]+\/[^/]+\/info\/lfs(\/|$)/

/** Whether it is a client of Git LFS that asks. It reads its own kind of JSON, and nothing else. */
export const isForLfs = ({ path }: Exchange): boolean => PATH.test(path)

/** The status by which its clients know that a server has no such thing, so that they go on where they can. */
export const noLfs = () =>
  new Refusal(
    501,
    'LFS_NOT_SUPPORTED',
    'Git LFS is not supported on this server, which keeps large files as they are. ' +
      'Turn the pointers back into files with `git lfs migrate export --everything --include="*"`, ' +
      'then `git lfs uninstall --local`, and push again',
  )

/** Tells a client of Git LFS what went wrong. It asks for a password where it is told to by a header of its own. */
export function refuseLfs(
  exchange: Exchange,
  status: number,
  message: string,
  headers: OutgoingHttpHeaders,
): void {
  const body = JSON.stringify({ message, request_id: exchange.requestId })
  send(exchange, status, 'application/vnd.git-lfs+json; charset=utf-8', body, {
    'cache-control': 'no-store',
    ...headers,
    ...(status === 401 && { 'lfs-authenticate': 'Basic realm="Trellis"' }),
  })
}
