import type { Person } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { GitPerson } from '../git/objects/format.ts'
import type { PeopleService } from '../people/service.ts'
import type { Clock } from '../platform/clock.ts'
import { invalid } from '../platform/fault.ts'

/** Anything smaller would be before 1973 in milliseconds, so it is seconds. */
const SMALLEST_MS = Date.UTC(1973, 0)
const MAX_OFFSET_MINUTES = 24 * 60 - 1

export type Signers = ReturnType<typeof createSigners>

/** Who stands in commits and tags that are made here. */
export function createSigners({ people, clock }: { people: PeopleService; clock: Clock }) {
  /** The caller, now. */
  async function callerOf({ actor, agentName }: Caller): Promise<GitPerson> {
    const known = actor.kind === 'user' ? await people.find(actor.id) : undefined
    const name = agentName === undefined ? actor.kind : `${agentName} (agent)`
    const fallback = { name, email: `${actor.id}@trellis` }
    return { ...clean(known ?? fallback), time: clock(), timezone: '+0000' }
  }

  return {
    callerOf,

    /** The one the caller names, at the time and in the timezone they give. */
    async personOf(caller: Caller, given: Person | undefined, field: string): Promise<GitPerson> {
      if (!given) return callerOf(caller)
      const { name, email, timestamp = clock(), timezoneOffset = 0 } = given
      if (Math.abs(timezoneOffset) > MAX_OFFSET_MINUTES)
        throw invalid([field, 'timezoneOffset'], 'No timezone is this far from UTC')
      if (timestamp < 0) throw invalid([field, 'timestamp'], 'Git knows no time before 1970')
      const time = timestamp < SMALLEST_MS ? timestamp * 1000 : timestamp
      return { name, email, time, timezone: timezoneOf(timezoneOffset) }
    },
  }
}

/** JavaScript counts minutes west of UTC, git writes hours and minutes east of it. */
function timezoneOf(offset: number): string {
  const minutes = Math.abs(offset)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${offset > 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`
}

/** Git has no way to write these in a name. */
function clean({ name, email }: { name: string; email: string }) {
  const without = (text: string) => text.replaceAll(/[<>\n\0]/g, '').trim()
  return { name: without(name) || 'unknown', email: without(email) }
}
