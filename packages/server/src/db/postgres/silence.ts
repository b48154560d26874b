import type { Socket } from 'node:net'
import pg from 'pg'
import { isUnreachable } from './unavailable.ts'

/** A query that has not been answered yet. */
interface Pending {
  client: pg.ClientBase
  since: number
}

/** After this long somebody looks whether there is anybody. */
const SILENT_MS = 3_000
const PROBE_MS = 2_000
const LOOK_EVERY_MS = 500

/**
 * A PostgreSQL that is frozen, or behind a network that swallows everything, says nothing, for ever. A query may take
 * long, too; so when one does, another connection asks whether anybody is there. If not, what waits is told so.
 */
export function watchSilence(url: string) {
  /** The oldest comes first. */
  const pending = new Set<Pending>()
  let answeredAt = 0
  let probing = false
  const timer = setInterval(look, LOOK_EVERY_MS).unref()

  const isOld = ({ since }: Pending) => performance.now() - Math.max(since, answeredAt) >= SILENT_MS

  function look(): void {
    const [oldest] = pending
    if (probing || !oldest || !isOld(oldest)) return
    probing = true
    isThere(url).then((answered) => {
      probing = false
      if (answered) answeredAt = performance.now()
      else for (const query of pending) if (isOld(query)) cut(query.client)
    })
  }

  return {
    began(client: pg.ClientBase): Pending {
      const query = { client, since: performance.now() }
      pending.add(query)
      return query
    },
    ended: (query: Pending) => void pending.delete(query),
    stop: () => clearInterval(timer),
  }
}

/** Whether anybody answers, be it with a refusal. */
async function isThere(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch (error) {
    return !isUnreachable(error) && !/^Query read timeout/.test(String((error as Error).message))
  } finally {
    cut(client)
  }
}

/** At once: to part politely takes an answer. */
function cut(client: pg.ClientBase): void {
  const { connection } = client as pg.ClientBase & { connection?: { stream?: Socket } }
  connection?.stream?.destroy()
}
