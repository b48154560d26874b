import { query } from '../../api/queries.ts'

interface RefSearch {
  org: string
  name: string
  /** Something of their names. */
  text: string
  type?: 'branch' | 'tag' | undefined
  limit: number
}

/** The operation takes no longer ones, and no name has so many letters. */
const MOST_LETTERS = 256

/** Branches and tags by what they are called, of however many there are. */
export const refsQuery = ({ org, name, text, type, limit }: RefSearch) =>
  query(org, (api) => api.git.refs.search, {
    name,
    query: text.slice(0, MOST_LETTERS),
    limit,
    ...(type && { type }),
  })
