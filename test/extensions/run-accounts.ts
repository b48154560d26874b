// What is told of runs in three places must agree: the runs themselves, their own logs, and the log of the repository.

import assert from 'node:assert/strict'
import type { NumberedEvent, Run } from '@trellis/contract'
import type { Json } from '../../packages/server/src/testing/json.ts'

/** Everything that is told of the runs of a repository. */
export interface Accounts {
  runs: Run[]
  /** The log of each run. */
  logs: Map<string, NumberedEvent[]>
  /** The log of the repository. */
  events: NumberedEvent[]
}

type Ok = (path: string, input: object) => Promise<Json>

async function pages<T>(ok: Ok, path: string, input: object): Promise<T[]> {
  const all: T[] = []
  let cursor: string | null = null
  do {
    const page: { items: T[]; nextCursor: string | null } = await ok(path, {
      ...input,
      ...(cursor !== null && { cursor }),
    })
    all.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return all
}

/** `of`: whose logs are read; those of others stay as they are. */
export async function readAccounts(ok: Ok, name: string, of: (run: Run) => boolean): Promise<Accounts> {
  const runs = await pages<Run>(ok, 'runs/list', { name, limit: 100 })
  const logs: Accounts['logs'] = new Map()
  for (const { id } of runs.filter(of)) logs.set(id, await pages(ok, 'runs/logs', { id, limit: 250 }))
  return { runs, logs, events: await pages(ok, 'events/list', { name, limit: 250 }) }
}

export function assertAgree(accounts: Accounts): void {
  const { runs, logs, events } = accounts
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, i) => i + 1),
  )
  const byId = new Map(events.map((event) => [event.id, event]))
  assert.equal(byId.size, events.length)
  const bySubject = Map.groupBy(
    events.filter(({ type }) => type.startsWith('run.')),
    ({ subject }) => subject,
  )
  const known = new Map(runs.map((run) => [run.id, run]))
  for (const subject of bySubject.keys()) assert.ok(known.has(String(subject)), `${subject} is only told of`)
  for (const run of runs) {
    const told = bySubject.get(run.id) ?? []
    assertTold(run, told, events)
    const log = logs.get(run.id)
    if (log) assertLogged(run, log)
    assertCaused(run, told[0], { byId, known })
  }
}

const ended = ({ status }: Run) => !['queued', 'running'].includes(status)

const lifeOf = (run: Run): string[] => [
  'run.queued',
  ...(run.startedAt === null ? [] : ['run.started']),
  ...(ended(run) ? [`run.${run.status}`] : []),
]

function assertTold(run: Run, told: readonly NumberedEvent[], all: readonly NumberedEvent[]): void {
  const about = JSON.stringify(run)
  assert.deepEqual(
    told.map(({ type }) => type),
    lifeOf(run),
    about,
  )
  assert.equal(run.endedAt !== null, ended(run), about)
  assert.ok(run.createdAt <= (run.startedAt ?? run.createdAt), about)
  assert.ok((run.startedAt ?? run.createdAt) <= (run.endedAt ?? Number.POSITIVE_INFINITY), about)
  const last = told.at(-1)?.payload as { error?: string; extension: string }
  assert.deepEqual([last.extension, last.error ?? null], [run.extension, run.error], about)
  assert.ok(told.every(({ seq }) => seq <= all.length))
}

/** The same three in its own log, and between them what it said. */
function assertLogged(run: Run, log: readonly NumberedEvent[]): void {
  assert.deepEqual(
    log.map(({ type }) => type).filter((type) => type !== 'run.log'),
    lifeOf(run),
    run.id,
  )
  if (ended(run)) assert.equal(log.at(-1)?.type, `run.${run.status}`, run.id)
  assert.equal(new Set(log.map(({ id }) => id)).size, log.length)
  for (const { cause } of log) assert.equal(cause?.runId, run.id)
}

const TRIGGERS: Record<string, (event: NumberedEvent) => boolean> = {
  push: ({ type }) => type === 'git.push',
  record: ({ type }) => type === 'record.created',
  event: ({ type }) => type === 'mixed.asked',
  daemon: ({ type }) => type === 'mixed.asked' || type === 'repo.updated',
}

function assertCaused(
  run: Run,
  queued: NumberedEvent | undefined,
  { byId, known }: { byId: Map<string, NumberedEvent>; known: Map<string, Run> },
): void {
  const about = `${JSON.stringify(run)} ${JSON.stringify(queued)}`
  const { cause } = queued ?? {}
  assert.ok(cause, about)
  assert.deepEqual(
    [cause.runId, cause.depth, cause.rootEventId, cause.chain.at(-1), cause.eventId ?? null],
    [run.id, (run.causationDepth ?? 0) + 1, run.rootEventId, run.id, run.causeEventId],
    about,
  )
  if (run.causeEventId !== null) {
    const event = byId.get(run.causeEventId)
    assert.ok(event && TRIGGERS[run.trigger]?.(event) && event.seq < (queued?.seq ?? 0), about)
    assert.deepEqual(cause.chain, [...(event.cause?.chain ?? []), run.id], about)
    assert.equal(run.rootEventId, event.cause?.rootEventId ?? event.id, about)
    assert.equal(run.causationDepth, event.cause?.depth ?? 0, about)
  } else {
    assert.equal(run.trigger, 'dispatch', about)
    const parent = known.get(cause.chain.at(-2) ?? '')
    assert.equal(parent !== undefined, cause.chain.length > 1, about)
    assert.equal(run.causationDepth, parent ? (parent.causationDepth ?? 0) + 1 : 0, about)
  }
}

/** Whatever an extension listens to has set off one run of it. */
export function assertSetOffOnce(
  { runs, events }: Accounts,
  extension: string,
  listensTo: (event: NumberedEvent) => boolean,
): void {
  assert.deepEqual(
    runs
      .filter((run) => run.extension === extension && run.trigger !== 'dispatch')
      .map(({ causeEventId }) => causeEventId)
      .toSorted(),
    events
      .filter(listensTo)
      .map(({ id }) => id)
      .toSorted(),
    extension,
  )
}

/** Wakes follow each other, and every event of a type has been told of in one that succeeded; in this many at most. */
export function assertHeard(
  { runs, events }: Accounts,
  { daemon, type, most }: { daemon: string; type: string; most: number },
): void {
  const wakes = runs.filter((run) => run.extension === daemon && run.trigger === 'daemon').toReversed()
  for (const [i, wake] of wakes.entries())
    assert.ok(wake.createdAt >= (wakes[i - 1]?.endedAt ?? 0), `${wake.id} came too early`)
  const told = events.filter((event) => event.type === 'daemon.woken' && event.subject === daemon)
  assert.deepEqual(
    told.map(({ payload }) => (payload as { runId: string }).runId),
    wakes.map(({ id }) => id),
  )
  const heard = wakes.flatMap(({ output }) => (output as { seqs: number[] } | undefined)?.seqs ?? [])
  for (const event of events.filter((event) => event.type === type)) {
    const times = heard.filter((seq) => seq === event.seq).length
    assert.ok(times >= 1 && times <= most, `${event.seq} was heard ${times} times`)
  }
}
