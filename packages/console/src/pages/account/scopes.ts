import type { Scope } from '@trellis/contract'

interface Level {
  value: Scope | ''
  label: string
}

export const NOTHING: Level = { value: '', label: 'Nothing' }

/** What a key may do beyond nothing, family by family. */
export const FAMILIES: readonly {
  name: 'repositories' | 'organization' | 'keys'
  label: string
  levels: readonly Level[]
}[] = [
  {
    name: 'repositories',
    label: 'Repositories',
    levels: [
      { value: 'repo:read', label: 'Read and clone' },
      { value: 'repo:write', label: 'Read and push' },
      { value: 'repo:admin', label: 'Read, push and administer' },
    ],
  },
  {
    name: 'organization',
    label: 'Organization',
    levels: [
      { value: 'org:read', label: 'See members' },
      { value: 'org:admin', label: 'Invite, change and remove members' },
    ],
  },
  {
    name: 'keys',
    label: 'Your keys',
    levels: [
      { value: 'keys:read', label: 'See them' },
      { value: 'keys:write', label: 'Make and revoke them' },
    ],
  },
]

const DAY_MS = 86_400_000

/** How long a key works. */
export const LIFETIMES: readonly { value: string; label: string }[] = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'until it is revoked' },
]

export const endOf = (days: string): number | null =>
  days === '' ? null : Date.now() + Number(days) * DAY_MS
