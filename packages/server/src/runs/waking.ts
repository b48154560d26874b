import type { Actor, NumberedEvent, Runtime } from '@trellis/contract'
import type { Appending } from '../events/service.ts'
import { CANONICAL_REF } from '../extensions/canonical-ref.ts'
import { readRunnables } from '../extensions/runnable.ts'
import type { Tx } from '../schema.ts'
import { type Origin, originOfTriggered } from './causes.ts'
import type { QueueRoom } from './queue-room.ts'
import { reasonAgainst } from './rejecting.ts'
import type { SchemaChecks } from './schema-checks.ts'
import { findEnd, type RunRow } from './store.ts'
import type { NewRun, Transitions } from './transitions.ts'
import { parentsOf } from './triggers.ts'
import { createVerdicts, type Judge } from './verdicts.ts'

/** A wake of a daemon. */
interface Wake {
  repo: NewRun['repo'] & { isFrozen: boolean }
  extension: string
  actor: Actor
  input: object
  origin: Origin
  judge: Judge
}

export type Waking = ReturnType<typeof createWaking>

/** Runs of daemons, which know themselves when they are to be. */
export const createWaking = ({
  transitions,
  queueRoom,
  runtimes,
  checks,
}: {
  transitions: Pick<Transitions, 'queueIn'>
  queueRoom: QueueRoom
  runtimes: ReadonlySet<Runtime>
  checks: SchemaChecks
}) => ({
  /** Gives what `wakeIn` asks about inputs. */
  withVerdicts: createVerdicts({ checks }),

  /** Of a run that each of the events sets off by itself. */
  async originsIn(tx: Tx, events: readonly NumberedEvent[]): Promise<Origin[]> {
    const parents = await parentsOf(tx, events)
    return events.map((event) => originOfTriggered(event, event.cause && parents.get(event.cause.runId)))
  },

  /** When a run ended. */
  findEnd,

  /** The run, or why there is none. */
  async wakeIn(
    tx: Tx,
    log: Appending,
    { repo, extension, actor, input, origin, judge }: Wake,
  ): Promise<RunRow | { reason: string }> {
    const target = (await readRunnables(tx, repo.id, [extension])).get(extension)
    if (!target) return { reason: 'not_dispatchable' }
    const json = JSON.stringify(input)
    const room = await queueRoom.findIn(tx, repo)
    const reason = reasonAgainst({ isFrozen: repo.isFrozen, room, origin, target, input: json }, runtimes)
    if (reason) return { reason }
    const { inputSchema: schema } = target
    const problem = schema === undefined ? undefined : judge({ schema, value: json })
    if (problem !== undefined) return { reason: `input_invalid: ${problem}` }
    const { commit, effective } = target
    const [run] = await transitions.queueIn(tx, log, [
      { repo, target, trigger: 'daemon', actor, ref: CANONICAL_REF, commit, effective, input: json, origin },
    ])
    if (!run) throw new Error('a run was queued and is not there')
    return run
  },
})
