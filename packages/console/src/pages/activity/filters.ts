import { ORG_EVENTS, REPO_EVENTS } from '../../activity/types.ts'

/** What stands in the address of a log: kinds (`git`) or types (`run.failed`) with commas, who did it, and one event. */
export interface ActivitySearch {
  types?: string
  actor?: string
  event?: string
}

export const searchOfActivity = ({ types, actor, event }: Record<string, unknown>): ActivitySearch => ({
  ...(typeof types === 'string' && types !== '' && { types }),
  ...(typeof actor === 'string' && actor !== '' && { actor }),
  ...(typeof event === 'string' && event !== '' && { event }),
})

const ALL = [...REPO_EVENTS, ...ORG_EVENTS]
const TYPE = /^[a-z][a-z0-9]*(\.[a-z0-9]+)*$/
/** The server takes no more; all of them is none. */
const MOST_TYPES = 32

export const chosenIn = (types: string | undefined): string[] =>
  types ? types.split(',').filter(Boolean) : []

/** The exact types that are asked for; undefined for all. */
export function typesIn(types: string | undefined): string[] | undefined {
  const exact = chosenIn(types).flatMap((word) => {
    const kinds = ALL.filter(({ about }) => about === word)
    return kinds.length > 0 ? kinds.flatMap((kind) => kind.types) : TYPE.test(word) ? [word] : []
  })
  const unique = [...new Set(exact)]
  return unique.length > 0 && unique.length <= MOST_TYPES ? unique : undefined
}

/** With a word more, or without it. */
export const toggled = (types: string | undefined, word: string): string | undefined => {
  const chosen = chosenIn(types)
  const next = chosen.includes(word) ? chosen.filter((one) => one !== word) : [...chosen, word]
  return next.length > 0 ? next.join(',') : undefined
}
