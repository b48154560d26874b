// A plain HTTP client loop: posts a body to a receiver, over as many connections as asked for, each post as soon as the
// last on its connection was answered, and then says how long it took.
const [url = '', connections = '1', count = '0', bytes = '0'] = process.argv.slice(2)
const body = JSON.stringify({ text: 'x'.repeat(Math.max(0, Number(bytes) - 11)) })
let left = Number(count)

async function post(): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  await response.arrayBuffer()
}
async function loop(): Promise<void> {
  while (left-- > 0) await post()
}
await Promise.all(Array.from({ length: Number(connections) }, post))
const started = performance.now()
await Promise.all(Array.from({ length: Number(connections) }, loop))
process.stdout.write(`${performance.now() - started}\n`)
