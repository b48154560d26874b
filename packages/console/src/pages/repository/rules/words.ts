import type { RefRefusals } from '@trellis/contract'

export type Refusable = keyof RefRefusals

/** What can be refused, as people say it, in the order it is shown. */
export const DEEDS: readonly { deed: Refusable; label: string; hint: string }[] = [
  { deed: 'force', label: 'Force pushes', hint: 'Moving it so that commits are lost.' },
  { deed: 'delete', label: 'Deleting', hint: 'Deleting such a branch or tag.' },
  { deed: 'create', label: 'Creating', hint: 'Making a new one with such a name.' },
  { deed: 'push', label: 'Changes but merges', hint: 'Only a merge on the server may move it.' },
]

const ROLES: Record<string, string> = { owner: 'owners', admin: 'admins', member: 'members' }

export function patternWords(pattern: string): string {
  if (pattern === 'HEAD') return 'the default branch, whichever that is'
  if (pattern.startsWith('refs/heads/')) return 'branches of these names'
  if (pattern.startsWith('refs/tags/')) return 'tags of these names'
  if (pattern.startsWith('refs/')) return 'refs of these names'
  return pattern.includes('*') ? 'branches of these names' : 'the branch of this name'
}

/** `Force pushes, but for admins`. */
export const refusalWords = (refuse: RefRefusals): string[] =>
  DEEDS.flatMap(({ deed, label }) => {
    const exception = refuse[deed]
    if (!exception) return []
    const who = exception.except.map((entry) => ROLES[entry] ?? entry)
    return [who.length > 0 ? `${label}, but for ${who.join(' and ')}` : label]
  })
