import { useNavigate } from '@tanstack/react-router'
import { query, queryClient } from '../../api/queries.ts'
import { type Found, usePaletteSource } from '../../keys/sources.ts'
import { refsQuery } from '../changes/find-refs.ts'
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
  usePaletteSource({ name: 'Branches', find: (text) => refs('branch', text) })
  usePaletteSource({ name: 'Tags', find: (text) => refs('tag', text) })

  async function refs(type: 'branch' | 'tag', text: string): Promise<Found[]> {
    if (text === '') return []
    const { items } = await queryClient.ensureQueryData(refsQuery({ org, name, text, type, limit: 5 }))
    return items.map((ref) => ({
      id: `${type}-${ref.name}`,
      label: ref.name,
      icon: type,
      go: goTo('/o/$org/$repo/tree/$', ref.name),
    }))
  }
}
