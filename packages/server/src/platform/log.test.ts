import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLog, type LogLevel, redact } from './log.ts'

function logging(level: LogLevel = 'debug') {
  let written = ''
  const log = createLog(level, (lines) => {
    written += lines
  })
  const lines = () => {
    log.flush()
    return written
  }
  return { log, lines, last: () => JSON.parse(lines().trim().split('\n').at(-1) ?? '') }
}

describe('the log', () => {
  it('writes one JSON object a line, with time, level and message first', () => {
    const { log, lines } = logging()
    log.info('one', { path: '/a "b"\n', ms: 1.5 })
    log.error('two\nlines')
    const [one, two, ...rest] = lines().trim().split('\n')
    assert.deepEqual(rest, [])
    const { time, ...fields } = JSON.parse(one ?? '')
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(fields, { level: 'info', message: 'one', path: '/a "b"\n', ms: 1.5 })
    assert.equal(JSON.parse(two ?? '').message, 'two\nlines')
  })

  it('leaves out what is less serious than asked for', () => {
    const { log, lines } = logging('warn')
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    assert.deepEqual(
      lines()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).message),
      ['c', 'd'],
    )
  })

  it('tells an error with its stack and everything that caused it', () => {
    const { log, last } = logging()
    log.error('failed', { error: new TypeError('outer', { cause: new Error('inner') }) })
    const { error } = last()
    assert.deepEqual([error.name, error.message, error.cause.message], ['TypeError', 'outer', 'inner'])
    assert.match(error.stack, /log\.test\.ts/)
    assert.match(error.cause.stack, /log\.test\.ts/)
  })

  it('writes a line whatever it is given', () => {
    const { log, last } = logging()
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const ownCause = new Error('its own cause')
    ownCause.cause = ownCause
    log.info('odd', {
      undefined,
      nothing: null,
      big: 2n ** 70n,
      deep: { big: 1n },
      symbol: Symbol('s'),
      circle,
      ownCause,
      yes: true,
    })
    const line = last()
    assert.equal(line.message, 'odd')
    assert.equal(line.nothing, null)
    assert.equal(line.big, String(2n ** 70n))
    assert.deepEqual(line.deep, { big: '1' })
    assert.equal(line.ownCause, 'Error: its own cause')
    assert.equal(line.yes, true)
  })
})

describe('secrets in the log', () => {
  const SECRET = 'Zm9vYmFyCg+/9=='
  const hidden: Record<string, Record<string, unknown>> = {
    'an API key': { text: `used trk_${'a'.repeat(42)}b` },
    'a repository token': { text: `(trt_${'0'.repeat(42)})` },
    'an agent token': { text: `tra_${'Z'.repeat(42)}` },
    'a webhook secret, all of it': { text: `webhsec_${SECRET}` },
    'a bearer token': { text: `Authorization: Bearer ${SECRET}, x` },
    'a bearer token in quotes': { text: `the header "bearer ${SECRET}" was refused` },
    'basic credentials': { text: `Basic ${SECRET}` },
    'the password of a URL': { text: 'postgres://ana:Zm9vYmFyCg@db.example/trellis' },
    'the password of a URL without a user': { text: 'redis://:Zm9vYmFyCg@db.example' },
    'a password by its name': { password: SECRET },
    'a new password by its name': { newPassword: SECRET },
    'a cookie by its name': { cookie: `trellis.session_token=${SECRET}` },
    'several cookies by their name': { 'set-cookie': [`trellis.session_token=${SECRET}`] },
    'a secret by its name': { clientSecret: SECRET },
    'a token by its name': { accessToken: SECRET },
    'a header by its name': { headers: { authorization: SECRET, cookie: SECRET } },
    'a list by its name': { headers: { cookies: [SECRET, SECRET] } },
    'what an error says': { error: new Error(`could not connect to postgres://ana:Zm9vYmFyCg@db/x`) },
    'what the cause of an error says': { error: new Error('x', { cause: new Error(`Bearer ${SECRET}`) }) },
  }
  for (const [what, fields] of Object.entries(hidden))
    it(`hides ${what}`, () => {
      const { log, lines, last } = logging()
      log.info('line', { ...fields, after: 'seen@example.com' })
      const line = lines()
      for (const part of [SECRET, 'Zm9vYmFyCg', '+/9', 'a'.repeat(42), '0'.repeat(42), 'Z'.repeat(42)])
        assert.ok(!line.includes(part), line)
      assert.match(line, /\[redacted\]/)
      // Still a line that a machine can read, with the rest in place.
      assert.equal(last().after, 'seen@example.com')
    })

  it('shows what is not secret', () => {
    const plain =
      'POST /api/v1/tokens/list 200 from http://127.0.0.1:8787 by ana@example.com, key_01 evt_01 req_01'
    assert.equal(redact(plain), plain)
    const { log, last } = logging()
    log.info('listening', { url: 'http://127.0.0.1:8787', by: 'ana@example.com', attempts: 3 })
    const { url, by, attempts } = last()
    assert.deepEqual(
      { url, by, attempts },
      { url: 'http://127.0.0.1:8787', by: 'ana@example.com', attempts: 3 },
    )
  })

  it('tells whose URL it was', () => {
    assert.equal(redact('postgres://ana:geheim@db/x'), 'postgres://ana:[redacted]@db/x')
    assert.equal(redact('Bearer abc'), 'Bearer [redacted]')
    assert.equal(redact('trk_abc'), 'trk_[redacted]')
  })
})
