import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { countTurns } from '../../testing/turns.ts'
import { parseInTurns } from './parsing.ts'
import { createPipelines } from './pipelines.ts'

describe('requests that are sent before the last is answered', () => {
  const pipelines = createPipelines()
  let underWay = 0
  let most = 0
  let begun = 0
  let seen = 0
  const server = createServer((request, response) => {
    seen++
    pipelines.inTurn(request, response, async () => {
      begun++
      most = Math.max(most, ++underWay)
      if (request.url !== '/quick') for await (const _ of request) await setImmediate()
      if (request.url === '/slow') await sleep(20)
      underWay--
      if (request.url === '/last') response.setHeader('connection', 'close')
      response.end(`${request.method} ${request.url};`)
    })
  })
  parseInTurns(server)
  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  after(() => server.close())

  async function send(text: string): Promise<string> {
    begun = 0
    most = 0
    seen = 0
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let heard = ''
    socket.on('error', () => undefined).on('data', (data) => (heard += data))
    socket.write(text)
    await new Promise<void>((resolve) => socket.on('close', () => resolve()))
    return [...heard.matchAll(/(?:GET|POST) \/\w+;/g)].join('')
  }
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody`

  it('are handled one after the other, in their order', async () => {
    const answers = await send(`${get('/slow')}${post('/quick')}${get('/slow')}${get('/last')}`)
    assert.equal(answers, 'GET /slow;POST /quick;GET /slow;GET /last;')
    assert.equal(most, 1)
  })

  it('are all answered, many at once', async () => {
    const many = Array.from({ length: 90 }, (_, i) => (i % 2 ? post(`/p${i}`) : get(`/g${i}`)))
    const answers = await send(`${many.join('')}${get('/last')}`)
    assert.equal(answers.split(';').length - 1, 91)
    assert.equal(most, 1)
  })

  it('are not handled any more once the connection ends', async () => {
    assert.equal(await send(`${get('/last')}${get('/after')}`), 'GET /last;')
    assert.equal(begun, 1)
  })

  it('end the connection when their bodies are much together', async () => {
    const large = `POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n${' '.repeat(30_000)}`
    assert.equal(
      await send(`${get('/slow')}${large.repeat(6)}${get('/last')}`),
      `GET /slow;${'POST /large;'.repeat(6)}GET /last;`,
    )
    assert.equal(await send(`${get('/slow')}${large.repeat(40)}`), '')
    assert.equal(begun, 1)
  })

  it('end the connection when they are very many', async () => {
    const answers = await send(get('/slow').repeat(5_000))
    assert.ok(answers.split(';').length < 20, answers)
    assert.ok(begun < 20, `${begun}`)
  })

  it('are not even looked at after that', async () => {
    await send(get('/slow').repeat(2_000))
    assert.ok(seen > 100 && seen < 150, `${seen}`)
  })

  it('take turns with others, also where each is answered at once', async () => {
    using turns = countTurns()
    assert.equal((await send(`${post('/quick').repeat(60)}${post('/last')}`)).split(';').length - 1, 61)
    assert.ok(turns.count > 60, `${turns.count}`)
    const answers = await send(post('/quick').repeat(500))
    assert.ok(answers.split(';').length < 110, answers)
  })

  it('may be few on a connection while many wait on others, and as many as before afterwards', async () => {
    const forty = `${get('/slow').repeat(40)}${get('/last')}`
    const all = await Promise.all(Array.from({ length: 100 }, () => send(forty)))
    const whole = all.filter((answers) => answers.endsWith('/last;')).length
    assert.ok(whole >= 20 && whole < 100, `${whole}`)
    assert.match(await send(forty), /last;$/)
  })
})
