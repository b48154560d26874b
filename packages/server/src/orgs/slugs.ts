import { randomBytes, randomInt } from 'node:crypto'
import { RESERVED_SLUGS } from '@trellis/contract'
import { Fault } from '../platform/fault.ts'

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
  return attempt === 0 && !RESERVED_SLUGS.has(slug) ? slug : `${slug}-${randomInt(1_000_000)}`
}

/** An organization is at `/{slug}`, where the server has pages of its own. */
export function requireFreeSlug(slug: string): void {
  if (RESERVED_SLUGS.has(slug))
    throw new Fault(
      'ORG_SLUG_TAKEN',
      { slug },
      { message: `${slug} is a word of the server's own addresses` },
    )
}

/** Enough never to meet the same twice. */
export const randomSlugPart = (): string => randomBytes(8).toString('hex')
