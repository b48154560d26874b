// What somebody writes who has installed the contract. It is checked and run as their program would be, from a folder of
// its own with nothing but the packed package.

import { INTERFACE_VERSION, type Repo, RepoName } from '@trellis/contract'
import { createTrellisClient, isDefinedError, safe, TrellisError } from '@trellis/contract/client'

export async function tryOut(url: string, token: string, name: string) {
  const trellis = createTrellisClient({ url, token })
  const made: Repo = await trellis.repos.create({ name: RepoName.parse(name) })
  const { items, nextCursor } = await trellis.repos.list({ limit: 100 })

  const { error: taken } = await safe(trellis.repos.create({ name }))
  if (!isDefinedError(taken) || taken.code !== 'REPO_ALREADY_EXISTS') throw new Error('The name was free')
  // Typed by the code: REPO_ALREADY_EXISTS says which name, and so on.
  const takenName: string = taken.data.name

  // @ts-expect-error A limit is a number.
  const { error: wrong } = await safe(trellis.repos.list({ limit: 'many' }))
  if (!(wrong instanceof TrellisError)) throw new Error('The limit was taken')

  const stranger = createTrellisClient({ url })
  const { valid } = await stranger.tokens.validate({ token: 'garbage' })

  return {
    version: INTERFACE_VERSION,
    made: made.name,
    listed: items.map((repo) => repo.name).includes(name),
    nextCursor,
    taken: { status: taken.status, message: taken.message, name: takenName },
    wrong: wrong.code,
    valid,
  }
}
