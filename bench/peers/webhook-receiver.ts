// The least that receives webhooks: counts what is posted to it, and tells the count to whoever asks with GET.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let received = 0
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (request.method === 'POST') {
      received++
      response.writeHead(204).end()
    } else response.end(String(received))
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
