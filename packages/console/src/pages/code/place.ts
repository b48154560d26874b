import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useShortcut } from '../../keys/shortcuts.ts'
import { useRepo } from '../../shell/places.ts'
import { addressOf, locateQuery } from './addresses.ts'

/** The pages whose address ends in a ref and a path. */
export type CodePlace =
  | '/o/$org/$repo/tree/$'
  | '/o/$org/$repo/blob/$'
  | '/o/$org/$repo/blame/$'
  | '/o/$org/$repo/commits/$'

/** Where in a repository, and at which commit, a page is. */
export function usePlace() {
  const { org, name, repo } = useRepo()
  const { _splat = '' } = useParams({ strict: false })
  const { data } = useSuspenseQuery(locateQuery(org, name, _splat || repo.defaultBranch))
  return { org, name, repo, ...data }
}

export type Place = ReturnType<typeof usePlace>

/** `y`: the address of the very commit, which stays true when the branch moves. */
export function usePin(to: CodePlace, { org, name, commit, path }: Place): void {
  const navigate = useNavigate()
  useShortcut('y', 'Pin the address to this commit', () => {
    const params = { org, repo: name, _splat: addressOf(commit, path) }
    void navigate({ to, params, hash: true, replace: true, resetScroll: false })
  })
}
