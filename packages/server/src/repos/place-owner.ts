import type { PlaceOwner } from '../platform/places.ts'
import type { RepoRow } from './store.ts'

export type OwnedRepo = Pick<RepoRow, 'org_id' | 'expires_at'>

/** On whose behalf something runs for a repository. */
export const placeOwnerOf = ({ org_id, expires_at }: OwnedRepo): PlaceOwner => ({
  id: org_id,
  isProvisional: expires_at !== null,
})
