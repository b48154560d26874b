import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openDatabase } from './db/database.ts'
import { closeGracefully, openListener, portOf } from './doors/http/server.ts'
import { openDoors } from './doors/open-doors.ts'
import { requireGit } from './git/process/version.ts'
import { ensureOwner } from './people/first-owner.ts'
import { type Passwords, scryptPasswords } from './people/passwords.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { newId } from './platform/ids.ts'
import type { Log } from './platform/log.ts'
import { claimScratch } from './platform/scratch.ts'
import type { Schema } from './schema.ts'
import { loadServerKey, requireSameKey } from './secrets/server-key.ts'
import { createFoundation, createServices } from './services.ts'

export interface AppDeps {
  config: Config
  log: Log
  clock?: Clock
  passwords?: Passwords
  /** Hold every answer against the contract. */
  checkOutput?: boolean
}

export type App = Awaited<ReturnType<typeof startApp>>

/** Starts a whole Trellis: opens what it keeps, makes the services, opens the doors. */
export async function startApp({
  config,
  log,
  clock = systemClock,
  passwords = scryptPasswords,
  checkOutput = false,
}: AppDeps) {
  await using starting = new AsyncDisposableStack()
  await requireGit()
  const dataDir = resolve(config.data)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const serverKey = await loadServerKey(config.secret, dataDir)
  const database = await openDatabase<Schema>(
    config.database.url
      ? { postgres: config.database.url, poolSize: config.database.poolSize }
      : { sqlite: join(dataDir, 'trellis.db') },
  )
  starting.defer(() => database.close())
  await requireSameKey(database, serverKey)

  const foundation = createFoundation({ config, database, clock })
  const ownerKey = await ensureOwner({
    ...foundation,
    database,
    clock,
    newId,
    passwords,
    dataDir,
    owner: config.owner,
  })
  const scratch = await claimScratch(join(dataDir, 'scratch'))
  starting.defer(() => scratch.stop())

  const { host, port } = config.listen
  const listener = await openListener(host, port)
  const baseUrl = config.baseUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${portOf(listener)}`
  // Should anything below fail, nobody is to wait for an answer.
  starting.defer(async () => void listener.close())

  const services = createServices({
    config,
    foundation,
    database,
    serverKey,
    dataDir,
    scratch,
    baseUrl,
    clock,
    log,
    atEnd: starting,
  })
  let stopping = false
  openDoors(listener, {
    config,
    database,
    serverKey,
    services,
    baseUrl,
    clock,
    passwords,
    log,
    isStopping: () => stopping,
    checkOutput,
  })
  // The last to be made is the first to go: no new callers, then the services, then what they stand on.
  starting.defer(() => closeGracefully(listener, config.shutdownMs))
  log.info('listening', { url: baseUrl, database: database.dialect })

  const running = starting.move()
  return {
    url: baseUrl,
    /** The owner's API key, only when this start made it. */
    ownerKey,
    database,
    expiry: services.expiry,
    /** Finishes what is in flight, then lets go of everything. */
    async stop(): Promise<void> {
      stopping = true
      await running.disposeAsync()
    },
  }
}
