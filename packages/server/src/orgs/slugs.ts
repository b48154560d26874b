import { randomBytes, randomInt } from 'node:crypto'

const MAX_LENGTH = 64

/** A slug for a person's own organization, from their address; every further attempt ends in other digits. */
export function personalSlug(email: string, attempt: number): string {
  const words = email
    .split('@')[0]
    ?.toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, MAX_LENGTH - 7)
  const slug = words || 'user'
  return attempt === 0 ? slug : `${slug}-${randomInt(1_000_000)}`
}

/** Enough never to meet the same twice. */
export const randomSlugPart = (): string => randomBytes(8).toString('hex')
