import { join } from 'node:path'
import { startBackground } from './background/background.ts'
import { openDatabase } from './db/database.ts'
import { unreadableEnvelope } from './doors/api/envelope.ts'
import { openConsole } from './doors/console/door.ts'
import { CONSOLE_DIRECTORY } from './doors/console/files.ts'
import { createDoors } from './doors/doors.ts'
import { createAddressReader } from './doors/entry/client-address.ts'
import { boundConnections } from './doors/http/connections.ts'
import { closeGracefully, openListener, portOf } from './doors/http/listener.ts'
import { createRequestMetrics } from './doors/http/request-metrics.ts'
import { serve } from './doors/http/server.ts'
import { refuseSlowBodies } from './doors/http/slow-bodies.ts'
import { requireGit } from './git/process/version.ts'
import { createModules } from './modules.ts'
import { createScryptPasswords, type Passwords } from './people/passwords.ts'
import { createRanges, isLoopback } from './platform/addresses.ts'
import { trustAuthorities } from './platform/authorities.ts'
import { type Clock, type Stopwatch, systemClock, systemStopwatch } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { inWords, openDataDirectory } from './platform/data-directory.ts'
import { watchDisk } from './platform/disk-metrics.ts'
import { newId } from './platform/ids.ts'
import type { Log } from './platform/log.ts'
import { createRegistry } from './platform/metrics.ts'
import { ownAddress } from './platform/own-address.ts'
import { makePrivateDirectory } from './platform/private-directory.ts'
import { watchRoom } from './platform/room.ts'
import { claimScratch } from './platform/scratch.ts'
import { VERSION } from './platform/version.ts'
import { startWatchdog } from './platform/watchdog.ts'
import { type FoundRuntimes, findRuntimes } from './runtime/runtimes.ts'
import type { Schema } from './schema.ts'
import { requireSameData } from './secrets/data-identity.ts'
import { loadServerKey, requireSameKey } from './secrets/server-key.ts'

interface AppDeps {
  config: Config
  log: Log
  clock?: Clock
  stopwatch?: Stopwatch
  passwords?: Passwords
  /** What runs the modules of extensions. */
  runtimes?: FoundRuntimes
  /** Where the console has been built to. */
  consoleDirectory?: string
  /** Hold every answer against the contract. */
  checkOutput?: boolean
}

/** For so long the body of a request may be as slow as it likes. */
const SLOW_BODY_PATIENCE_MS = 30_000

export type App = Awaited<ReturnType<typeof startApp>>

/**
 * Starts a whole Trellis: listens, opens what it keeps, makes the domains, opens the doors. Whoever comes before all is
 * ready is told to come again.
 */
export async function startApp(deps: AppDeps) {
  const { config, log, clock = systemClock, stopwatch = systemStopwatch, checkOutput = false } = deps
  await using starting = new AsyncDisposableStack()
  const { host, port } = config.listen
  const listener = await openListener(host, port)
  const own = ownAddress(host, portOf(listener))
  const baseUrl = config.baseUrl ?? own.url
  const advice = config.baseUrl ? undefined : own.advice
  // Should anything below fail, nobody is to wait for an answer.
  starting.defer(async () => {
    listener.close()
    listener.closeAllConnections()
  })
  const registry = createRegistry()
  const metrics = createRequestMetrics(registry)
  const { connections, trustedProxies } = config
  const proxies = createRanges(trustedProxies)
  boundConnections(listener, {
    limits: connections,
    isExempt: (address) => isLoopback(address) || proxies.contains(address),
    onRefused: metrics.connectionRefused,
  })
  refuseSlowBodies(listener, {
    bytesPerSecond: connections.bodyBytesPerSecond,
    patienceMs: SLOW_BODY_PATIENCE_MS,
  })
  const { underWay, stop: stopWatchdog } = startWatchdog({ log, registry })
  starting.defer(async () => stopWatchdog())
  const doors = createDoors({ baseUrl, config })
  const server = serve(listener, {
    doors: doors.closed,
    addressOf: createAddressReader(trustedProxies),
    unreadable: unreadableEnvelope,
    metrics,
    underWay,
    log,
  })

  await requireGit()
  if (config.authorities) await trustAuthorities(config.authorities)
  const dataDir = await openDataDirectory(config.data)
  const serverKey = await inWords(dataDir, () => loadServerKey(config.secret, dataDir))
  await inWords(dataDir, () => makePrivateDirectory(dataDir))
  const database = await openDatabase<Schema>(
    config.database.url
      ? { postgres: config.database.url, poolSize: config.database.poolSize }
      : { sqlite: join(dataDir, 'trellis.db') },
    {
      waitMs: config.database.waitMs,
      onWaiting: (waiting) => log.warn('waiting for the database', { ...waiting }),
      onOutage: (error) => log.error('the database cannot be used', { error }),
      onOutageOver: (outage) => log.info('the database can be used again', { ...outage }),
      onLongTransaction: (long) => log.warn('a transaction stayed open for long', { ...long }),
    },
  )
  starting.defer(() => database.close())
  watchDisk(registry, { dataDir, database })
  await requireSameKey(database, serverKey)
  await inWords(dataDir, () => requireSameData(database, dataDir))
  const scratch = await inWords(dataDir, () => claimScratch(join(dataDir, 'scratch')))
  starting.defer(() => scratch.remove())

  const passwords = deps.passwords ?? starting.adopt(createScryptPasswords(), (hashers) => hashers.close())
  const base = {
    config,
    database,
    serverKey,
    dataDir,
    scratch,
    room: watchRoom(dataDir),
    baseUrl,
    clock,
    stopwatch,
    newId,
    log,
    registry,
  }
  const runtimes = deps.runtimes ?? (await findRuntimes(base))
  const { services, bounds, handlers, work, close } = await createModules({
    ...base,
    passwords,
    runtimes,
  })
  starting.defer(() => close())
  const { shutdownMs } = config
  const background = startBackground(work, {
    database,
    clock,
    stopwatch,
    log,
    registry,
    underWay,
    shutdownMs,
  })
  let stopping = false
  const isStopping = () => stopping
  const runtimesOff = runtimes.off.map(({ names, reason }) => `${names.join(' and ')}: ${reason}`)
  const console = await openConsole(deps.consoleDirectory ?? CONSOLE_DIRECTORY)
  if (!console)
    log.warn('there is no console to show in browsers: make it with npm run build, then start again')
  const opened = { ...base, services, handlers, runtimesOff, console, bounds, isStopping, checkOutput }
  server.open(doors.open(opened))
  // No new callers and nothing new in the background, then what both stand on, the last made first.
  starting.defer(async () => {
    await Promise.all([closeGracefully(listener, shutdownMs), background.stop()])
  })
  log.info('listening', { url: baseUrl, database: database.dialect, version: VERSION })
  if (advice) log.warn(advice)

  const running = starting.move()
  return {
    url: baseUrl,
    /** The owner's API key, only when this start made it, and a link that opens once. */
    ownerKey: services.firstAccess?.key,
    ownerLink: services.firstAccess?.link,
    /** Which runtimes of extensions are off and why, in words for the operator. */
    runtimesOff,
    /** What the operator had better look at, in words. */
    advice,
    database,
    background,
    /** Finishes what is in flight, then lets go of everything. */
    async stop(): Promise<void> {
      stopping = true
      await running.disposeAsync()
    },
  }
}
