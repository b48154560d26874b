import { redirect } from '@tanstack/react-router'
import { queryClient } from '../../api/queries.ts'
import { repoQuery } from '../../shell/places.ts'
import { blobQuery, isImage, locateQuery, MOST_SHOWN_BYTES, overviewQuery, treeQuery } from './addresses.ts'

// What pages need before they are there, so that the next one is ready when a link is pressed.

interface Params {
  org: string
  repo: string
  _splat?: string | undefined
}

export async function loadFront({ org, repo: name }: Params): Promise<void> {
  const { head } = await queryClient.ensureQueryData(overviewQuery(org, name))
  if (head) await queryClient.ensureInfiniteQueryData(treeQuery({ org, name, commit: head.oid, path: '' }))
}

async function locate({ org, repo: name, _splat }: Params) {
  const { defaultBranch } = await queryClient.ensureQueryData(repoQuery(org, name))
  return queryClient.ensureQueryData(locateQuery(org, name, _splat || defaultBranch))
}

export async function loadPlace(params: Params): Promise<void> {
  await locate(params)
}

export async function loadTree(params: Params): Promise<void> {
  const { org, repo: name } = params
  const { commit, path, entry } = await locate(params)
  // Whoever writes a link need not know which it is.
  if (entry?.type === 'blob') throw redirect({ to: '/o/$org/$repo/blob/$', params, replace: true })
  if (path === '' || entry?.type === 'tree')
    await queryClient.ensureInfiniteQueryData(treeQuery({ org, name, commit, path }))
}

export async function loadBlob(params: Params): Promise<void> {
  const { org, repo: name } = params
  const { path, entry } = await locate(params)
  if (path === '' || entry?.type === 'tree')
    throw redirect({ to: '/o/$org/$repo/tree/$', params, replace: true })
  if (entry?.type === 'blob' && (entry.size ?? 0) <= MOST_SHOWN_BYTES && !isImage(path))
    await queryClient.ensureQueryData(blobQuery(org, name, entry.oid))
}
