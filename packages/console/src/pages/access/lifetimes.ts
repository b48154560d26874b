/** How long something works, in seconds. */
export interface Lifetime {
  seconds: number
  label: string
}

const HOUR = 3600
const DAY = 24 * HOUR

export const TOKEN_LIFETIMES: readonly Lifetime[] = [
  { seconds: HOUR, label: 'an hour' },
  { seconds: DAY, label: 'a day' },
  { seconds: 7 * DAY, label: '7 days' },
  { seconds: 30 * DAY, label: '30 days' },
  { seconds: 90 * DAY, label: '90 days' },
  { seconds: 365 * DAY, label: 'a year' },
]

export const LINK_LIFETIMES: readonly Lifetime[] = [
  { seconds: HOUR, label: 'an hour' },
  { seconds: DAY, label: 'a day' },
  { seconds: 7 * DAY, label: '7 days' },
  { seconds: 30 * DAY, label: '30 days' },
]

export const CLONE_LIFETIMES: readonly Lifetime[] = [
  { seconds: HOUR / 2, label: 'half an hour' },
  { seconds: 4 * HOUR, label: '4 hours' },
  { seconds: DAY, label: 'a day' },
]
