import type { Runtime } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import type { PackSurvey } from '../code/survey.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { Clock } from '../platform/clock.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { forbidden } from '../platform/fault.ts'
import { type Registry, readMetric } from '../platform/metrics.ts'
import type { Room } from '../platform/room.ts'
import { VERSION } from '../platform/version.ts'
import type { FoundRuntimes } from '../runtime/runtimes.ts'
import type { Database } from '../schema.ts'

export interface OperatorsDeps {
  database: Database
  people: PeopleService
  orgs: OrgsService
  survey: PackSurvey
  runtimes: FoundRuntimes
  room: Room
  registry: Registry
  clock: Clock
}

const RUNTIMES: readonly Runtime[] = ['worker', 'workflow', 'sandbox']

export type OperatorsService = ReturnType<typeof createOperatorsService>

/** What whoever owns the server sees of it. To everybody else there is nothing to see. */
export function createOperatorsService(deps: OperatorsDeps) {
  const { database, people, orgs, survey, runtimes, room, registry, clock } = deps
  const startedAt = clock()
  const known = (name: string) => readMetric(registry, name)

  async function requireFirstOwner({ actor }: Caller): Promise<void> {
    if (!(await people.isFirstOwner(actor.id)))
      throw forbidden('insufficient_role', 'This is for the owner of the server')
  }

  async function problems(): Promise<string[]> {
    const isShort = await room.isShort()
    return [...(isShort ? ['The disk of the data directory is full'] : []), ...survey.problems()]
  }

  return {
    self: async ({ actor }: Caller) => ({ owner: await people.isFirstOwner(actor.id) }),

    async overview(caller: Caller) {
      await requireFirstOwner(caller)
      return {
        version: VERSION,
        startedAt,
        problems: await problems(),
        database: { kind: database.dialect, bytes: await known('trellis_database_bytes') },
        disk: {
          sizeBytes: await known('trellis_disk_size_bytes'),
          freeBytes: await known('trellis_disk_free_bytes'),
          packBytes: survey.bytes,
        },
        packs: { missing: survey.missing, damaged: survey.damaged },
        runtimes: RUNTIMES.map((name) => ({
          name,
          enabled: runtimes.names.has(name),
          reason: runtimes.off.find(({ names }) => names.includes(name))?.reason ?? null,
        })),
        queues: {
          runsQueued: await known('trellis_runs_queued'),
          runsRunning: await known('trellis_runs_running'),
          runsSleeping: await known('trellis_runs_sleeping'),
          deliveriesPending: await known('trellis_webhook_backlog'),
          gitRunning: await known('trellis_git_processes'),
          gitWaiting: await known('trellis_git_processes_waiting'),
        },
        counts: {
          users: await people.countAll(),
          ...(await orgs.countAll()),
        },
      }
    },

    async listUsers(caller: Caller, { cursor, limit }: { cursor?: string | undefined; limit: number }) {
      await requireFirstOwner(caller)
      const users = await people.listAll({ after: textCursor.decode(cursor) ?? '', limit: limit + 1 })
      const { items, nextCursor } = pageFrom(users, limit, ({ id }) => textCursor.encode(id))
      return {
        items: items.map((user) => ({
          id: user.id,
          name: user.name,
          email: user.email,
          emailVerified: Boolean(user.email_verified),
          createdAt: new Date(user.created_at).getTime(),
          disabledAt: user.disabled_at,
        })),
        nextCursor,
      }
    },
  }
}
