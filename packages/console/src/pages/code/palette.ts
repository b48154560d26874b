import { useNavigate } from '@tanstack/react-router'
import { query, queryClient } from '../../api/queries.ts'
import { best, type Found, usePaletteSource } from '../../keys/sources.ts'
import { addressOf } from './addresses.ts'

interface At {
  org: string
  name: string
  ref: string
  commit: string
}

export const filesQuery = ({ org, name, commit }: At, text: string, limit: number) =>
  query(org, (api) => api.git.files, { name, ref: commit, limit, ...(text && { query: text }) })

/** Lets the palette find files, branches and tags of the repository that is looked at. */
export function useCodeSources(at: At): void {
  const navigate = useNavigate()
  const { org, name } = at
  const goTo = (to: '/o/$org/$repo/blob/$' | '/o/$org/$repo/tree/$', _splat: string) => () =>
    void navigate({ to, params: { org, repo: name, _splat } })

  // Whoever has not written anything wants to go to a page or another repository.
  usePaletteSource({
    name: 'Files',
    async find(text): Promise<Found[]> {
      if (text === '') return []
      const { paths } = await queryClient.ensureQueryData(filesQuery(at, text, 8))
      return paths.map((path) => ({
        id: `file-${path}`,
        label: path,
        icon: 'file',
        go: goTo('/o/$org/$repo/blob/$', addressOf(at.ref, path)),
      }))
    },
  })
  usePaletteSource({ name: 'Branches', find: (text) => refs('branches', text) })
  usePaletteSource({ name: 'Tags', find: (text) => refs('tags', text) })

  async function refs(kind: 'branches' | 'tags', text: string): Promise<Found[]> {
    if (text === '') return []
    const { items } = await queryClient.ensureQueryData(
      query(org, (api) => api.git[kind].list, { name, limit: 100 }),
    )
    const all = items.map(
      (ref): Found => ({
        id: `${kind}-${ref.name}`,
        label: ref.name,
        icon: kind === 'tags' ? 'tag' : 'branch',
        go: goTo('/o/$org/$repo/tree/$', ref.name),
      }),
    )
    return best(text, all, 5)
  }
}
