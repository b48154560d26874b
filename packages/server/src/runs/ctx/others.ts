import { contract, EventType } from '@trellis/contract'
import { by, type EventsService } from '../../events/service.ts'
import { parseEmittedType, repoScope } from '../../events/types.ts'
import { parseInputOf } from '../../operations/implement.ts'
import { Fault, invalid } from '../../platform/fault.ts'
import type { RecordsService } from '../../records/service.ts'
import type { Database } from '../../schema.ts'
import { type CtxCall, type CtxMethods, optionsAt } from './methods.ts'

/** `ctx.records`: the operations on records, in the repository of the run; undefined where they are switched off. */
export function recordMethods(service: RecordsService | undefined): CtxMethods {
  const on = () => {
    if (!service) throw new Fault('FEATURE_UNAVAILABLE', { feature: 'records' })
    return service
  }
  const read = (perform: (call: CtxCall) => Promise<unknown>) => ({ needs: 'records:read', perform })
  const write = (perform: (call: CtxCall) => Promise<unknown>) => ({
    needs: 'records:write',
    writes: true,
    perform,
  })
  return {
    'records.get': read(async ({ repo, caller, args: [record, id] }) =>
      on().get(caller, parseInputOf(contract.records.get, { name: repo.name, record, id })),
    ),
    'records.list': read(async ({ repo, caller, args, signal }) => {
      const { where, limit, cursor } = optionsAt(args, 1)
      const given = { name: repo.name, record: args[0], where, limit, cursor }
      const page = await on().list(caller, parseInputOf(contract.records.list, given), signal)
      return { rows: page.rows, cursor: page.cursor }
    }),
    'records.create': write(async ({ repo, caller, args: [record, data] }) =>
      on().create(caller, parseInputOf(contract.records.create, { name: repo.name, record, data })),
    ),
    'records.update': write(async ({ repo, caller, args }) => {
      const [record, id] = args
      const { revision, data } = optionsAt(args, 2)
      const given = { name: repo.name, record, id, revision, data }
      return on().update(caller, parseInputOf(contract.records.update, given))
    }),
    'records.delete': write(async ({ repo, caller, args }) => {
      const [record, id] = args
      const { revision } = optionsAt(args, 2)
      return on().delete(
        caller,
        parseInputOf(contract.records.delete, { name: repo.name, record, id, revision }),
      )
    }),
  }
}

const MAX_SUBJECT = 512
/** Every webhook that listens keeps a copy. */
const MAX_PAYLOAD_BYTES = 64 * 1024
/** Of one run. They are kept for good, and count against no quota. */
const MOST_EVENTS = 1_000
const MOST_EVENT_BYTES = 8 * 1024 * 1024

/** `ctx.events`: events of types that are not the service's own. */
export function eventMethods({
  database,
  events,
}: {
  database: Database
  events: EventsService
}): CtxMethods {
  const emitted = new WeakMap<object, { count: number; bytes: number }>()

  function count(run: object, bytes: number): void {
    const sum = emitted.get(run) ?? { count: 0, bytes: 0 }
    sum.count++
    sum.bytes += bytes
    emitted.set(run, sum)
    if (sum.count > MOST_EVENTS || sum.bytes > MOST_EVENT_BYTES)
      throw new Fault(
        'TOO_MANY_REQUESTS',
        {},
        { message: `A run may emit ${MOST_EVENTS} events, with ${MOST_EVENT_BYTES} bytes in all` },
      )
  }

  return {
    'events.emit': {
      needs: 'events:emit',
      writes: true,
      async perform({ run, repo, caller, args }) {
        const given = EventType.safeParse(args[0])
        if (!given.success)
          throw invalid([0], 'A type is words of lowercase letters and digits with dots in between')
        const type = parseEmittedType(given.data)
        if (!type) throw invalid([0], `Types that begin like ${given.data} are the service's own`)
        const { subject, payload } = optionsAt(args, 1)
        if (subject !== undefined && subject !== null && !isSubject(subject))
          throw invalid([1, 'subject'], `A subject is text of up to ${MAX_SUBJECT} characters`)
        const bytes = Buffer.byteLength(JSON.stringify(payload ?? null))
        if (bytes > MAX_PAYLOAD_BYTES)
          throw new Fault('PAYLOAD_TOO_LARGE', {
            scope: 'git_workspace_memory',
            limit: MAX_PAYLOAD_BYTES,
            observed: bytes,
          })
        count(run, bytes)
        await database.transact((tx) =>
          events.append(tx, {
            ...by(caller),
            scope: repoScope(repo.id),
            type,
            ...(isSubject(subject) && { subject }),
            ...(payload !== undefined && { payload }),
          }),
        )
        return null
      },
    },
  }
}

const isSubject = (subject: unknown): subject is string =>
  typeof subject === 'string' && subject.length <= MAX_SUBJECT && !subject.includes('\0')
