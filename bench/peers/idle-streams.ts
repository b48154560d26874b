// Holds connections open and does nothing with them but to say now and then that they live.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const BEAT_MS = 15_000
const open = new Set<ServerResponse>()
setInterval(() => {
  for (const response of open) response.write(':\n\n')
}, BEAT_MS)

const server = createServer((request, response) => {
  if (request.url === '/metrics') {
    const { user, system } = process.cpuUsage()
    response.end(
      `trellis_process_resident_memory_bytes ${process.memoryUsage.rss()}\n` +
        `trellis_process_cpu_seconds_total ${(user + system) / 1e6}\n`,
    )
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('retry: 2000\n\n')
  open.add(response)
  response.once('close', () => open.delete(response))
})
server.listen(0, '127.0.0.1', () => {
  console.error(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.on('SIGTERM', () => process.exit(0))
