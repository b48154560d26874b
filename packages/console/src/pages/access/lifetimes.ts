/** How long something works, in seconds. */
interface Lifetime {
  value: number
  label: string
}

const HOUR = 3600
const DAY = 24 * HOUR

export const TOKEN_LIFETIMES: readonly Lifetime[] = [
  { value: HOUR, label: 'an hour' },
  { value: DAY, label: 'a day' },
  { value: 7 * DAY, label: '7 days' },
  { value: 30 * DAY, label: '30 days' },
  { value: 90 * DAY, label: '90 days' },
  { value: 365 * DAY, label: 'a year' },
]

export const LINK_LIFETIMES: readonly Lifetime[] = [
  { value: HOUR, label: 'an hour' },
  { value: DAY, label: 'a day' },
  { value: 7 * DAY, label: '7 days' },
  { value: 30 * DAY, label: '30 days' },
]

export const CLONE_LIFETIMES: readonly Lifetime[] = [
  { value: HOUR / 2, label: 'half an hour' },
  { value: 4 * HOUR, label: '4 hours' },
  { value: DAY, label: 'a day' },
]
