import type { Issue } from '@trellis/contract'
import { Fault } from '../platform/fault.ts'

const MAX_ISSUES = 100

/** Throws where something is wrong with what was given. */
export function refuse(issues: Issue[]): void {
  if (issues.length === 0) return
  const more = issues.length - MAX_ISSUES
  const told = issues.slice(0, MAX_ISSUES)
  throw new Fault('BAD_REQUEST', {
    issues: more > 0 ? [...told, { message: `and ${more} more problems` }] : told,
  })
}
