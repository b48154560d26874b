import type { Author, NewEvent } from '../events/service.ts'
import { shortRef } from '../git/names.ts'
import type { RefChange } from './landing.ts'

type RefEvent = Omit<NewEvent, 'scope'>

/** What moving refs tells the world: a push for each, and what came into being or went. */
export function eventsOf(
  author: Author,
  moved: readonly RefChange[],
  options: readonly string[],
): RefEvent[] {
  return moved.flatMap((change) => {
    const { ref, before, after, facts } = change
    const { name, type } = shortRef(ref)
    const push: RefEvent = {
      ...author,
      type: 'git.push',
      subject: ref,
      payload: {
        ref,
        before,
        after,
        created: before === null,
        deleted: after === null,
        ...(facts && {
          forced: !facts.fastForward,
          commitCount: facts.commitCount,
          paths: facts.changedPaths,
          pathsTruncated: facts.pathsTruncated,
        }),
        ...(options.length > 0 && { options }),
      },
    }
    if (type === 'other' || (before && after)) return [push]
    const happened = before === null ? ('created' as const) : ('deleted' as const)
    const lifecycle: RefEvent = {
      ...author,
      type: `git.${type}.${happened}`,
      subject: name,
      payload: { ref, oid: after ?? before },
    }
    return [push, lifecycle]
  })
}
