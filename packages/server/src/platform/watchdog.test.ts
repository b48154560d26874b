import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqlite, openSocket, useApp } from '../testing/index.ts'
import { createLog } from './log.ts'
import { createRegistry } from './metrics.ts'
import { startWatchdog } from './watchdog.ts'

function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

const linesIn = (logged: string) =>
  logged
    .split('\n')
    .filter((line) => line.includes('the event loop stood still'))
    .map((line) => JSON.parse(line))

describe('a watchdog', () => {
  it('tells of a long turn with what was under way, or ended in it, and not of what came later', async () => {
    let logged = ''
    const log = createLog('debug', (lines) => {
      logged += lines
    })
    const registry = createRegistry()
    const { underWay, stop } = startWatchdog({ log, registry })
    await sleep(150)
    const waiting = underWay.begin({ route: '/repos/list' })
    underWay.begin({ route: '/repos/list' })
    const done = underWay.begin({ route: '/repos/create' })
    underWay.end(underWay.begin({ route: '/quick' }))
    block(500)
    underWay.end(done)
    underWay.begin({ route: '/late' })
    await sleep(250)
    log.flush()
    // On a busy machine there may be others.
    const line = linesIn(logged).find(({ underWay }) => underWay['/repos/create'])
    assert.equal(line?.level, 'warn')
    assert.ok(line.ms >= 300, `${line.ms} ms`)
    assert.deepEqual(line.underWay, { '/repos/create': 1, '/repos/list': 2 })
    assert.match(await registry.metrics(), /^trellis_long_turns_total [1-9]/m)

    // What has been told is not told again.
    logged = ''
    underWay.end(waiting)
    await sleep(150)
    block(500)
    await sleep(250)
    log.flush()
    stop()
    const later = linesIn(logged).map(({ underWay }) => underWay)
    assert.deepEqual(
      later.filter((each) => each['/repos/create']),
      [],
    )
    assert.equal(later.find((each) => each['/repos/list'])['/repos/list'], 1)
  })
})

describe('a server whose event loop stands still', () => {
  const app = useApp(createSqlite)

  it('says so in its log, with the requests that waited, and in its metrics', async () => {
    await (await fetch(`${app.url}/metrics`)).text()
    // A body that never comes keeps the request waiting.
    const socket = openSocket(app.url)
    socket.write(
      `POST /api/v1/repos/list HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.ownerKey}\r\nContent-Length: 9\r\n\r\n`,
    )
    await sleep(300)
    block(500)
    await sleep(300)
    socket.destroy()
    const told = linesIn(app.logged()).find(({ underWay }) => underWay['/repos/list'])
    assert.ok(told, app.logged())
    const metrics = await (await fetch(`${app.url}/metrics`)).text()
    const delay = Number(/^trellis_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1])
    assert.ok(delay >= 0.3, `${delay} s`)
    assert.match(metrics, /^trellis_nodejs_eventloop_lag_p99_seconds /m)
  })
})
