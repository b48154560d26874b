import type { PlaceOwner } from '../platform/places.ts'
import type { RepoRow } from './store.ts'

/** On whose behalf something runs for a repository. */
export const placeOwnerOf = ({ org_id, expires_at }: Pick<RepoRow, 'org_id' | 'expires_at'>): PlaceOwner => ({
  id: org_id,
  isProvisional: expires_at !== null,
})
