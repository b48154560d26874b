// What settings are made of.

import * as z from 'zod'

export const MB = 1024 * 1024
export const GB = 1024 * MB

export const text = z.string().min(1)
export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
)
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .transform((url) => url.replace(/\/+$/, ''))
export const isDecodable = (url: string): boolean => {
  try {
    const { username, password } = new URL(url)
    return decodeURIComponent(username + password) !== undefined
  } catch {
    return false
  }
}
/** Links, cookies and the addresses of git and agents all begin at the root. */
export const originUrl = httpUrl.refine((given) => {
  const { origin, href } = new URL(given)
  return href === `${origin}/`
}, 'must be a scheme and a host, and no path: Trellis needs a host name or a port of its own')
export const oneOf = <const T extends string>(...values: T[]) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

export interface Setting<T = unknown> {
  about: string
  schema: z.ZodType<T, string>
  /** As it would be written in the environment; without one the setting is off until given. */
  fallback?: string
}

export const setting = <T>(about: string, schema: z.ZodType<T, string>): Setting<T> => ({ about, schema })
export const defaulted = <T>(about: string, fallback: string, schema: z.ZodType<T, string>) => ({
  about,
  schema,
  fallback,
})
