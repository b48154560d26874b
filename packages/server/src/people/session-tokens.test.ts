import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { createSessionTokens } from './session-tokens.ts'

const SECRET = 'a secret of the server'
const TOKEN = 'Zx81zx81Zx81zx81Zx81zx81Zx81zx81'

const signed = (value: string, secret = SECRET) =>
  `${value}.${createHmac('sha256', secret).update(value).digest('base64')}`
const cookie = (value: string, name = 'trellis.session_token') => `${name}=${encodeURIComponent(value)}`

describe('tokens of sessions', () => {
  const tokens = createSessionTokens({ secret: SECRET, secure: false })
  const inCookies = (header: string) => tokens.inCookies(header)?.token

  it('are read from cookies that were signed here', () => {
    const ours = cookie(signed(TOKEN))
    for (const header of [
      ours,
      `theme=dark; ${ours}; other`,
      `;; =; a==b;${ours}`,
      `trellis.session_token="${encodeURIComponent(signed(TOKEN))}"`,
      `trellis.session_token=${signed(TOKEN)}`,
      `${ours}; ${cookie(signed('another'))}`,
    ])
      assert.equal(inCookies(header), TOKEN, header)
  })

  it('are not read from any other', () => {
    const [value, signature = ''] = signed(TOKEN).split('.')
    const swapped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
    for (const header of [
      '',
      'trellis.session_token',
      'trellis.session_token=',
      cookie(TOKEN),
      cookie(`.${signature}`),
      cookie(`${value}.`),
      cookie(`${value}.${swapped}`),
      cookie(`${value}.${signature.slice(0, -1)}`),
      cookie(`${value}.${signature}=`),
      cookie(`${value}.${'é'.repeat(22)}`),
      cookie(`${value}x.${signature}`),
      cookie(signed(TOKEN, 'another secret')),
      cookie(signed(TOKEN), '__Secure-trellis.session_token'),
      cookie(signed(TOKEN), 'xtrellis.session_token'),
      cookie(signed(TOKEN), 'trellis.session_token_'),
      'trellis.session_token=%E0%A4%A',
      `${cookie('bad')}; ${cookie(signed(TOKEN))}`,
    ])
      assert.equal(tokens.inCookies(header), undefined, header)
  })

  it('are in a cookie that only encrypted connections set, where all are', () => {
    const secure = createSessionTokens({ secret: SECRET, secure: true })
    assert.equal(secure.inCookies(cookie(signed(TOKEN), '__Secure-trellis.session_token'))?.token, TOKEN)
    assert.equal(secure.inCookies(cookie(signed(TOKEN))), undefined)
  })

  it('tell those that last as long as the browser is open', () => {
    const passes = (header: string) => tokens.inCookies(header)?.passing
    const ours = cookie(signed(TOKEN))
    assert.equal(passes(ours), false)
    assert.equal(passes(`${ours}; ${cookie(signed('true'), 'trellis.dont_remember')}`), true)
    assert.equal(passes(`${ours}; ${cookie('true', 'trellis.dont_remember')}`), false)
  })

  it('are signed with secrets of any length', () => {
    for (const length of [1, 63, 64, 65, 200]) {
      const secret = 'é'.repeat(length)
      const own = createSessionTokens({ secret, secure: false })
      assert.equal(own.inCookies(cookie(signed(TOKEN, secret)))?.token, TOKEN)
    }
  })

  it('are taken from bearers as they are, or signed', () => {
    assert.equal(tokens.inBearer(TOKEN)?.token, TOKEN)
    assert.equal(tokens.inBearer(signed(TOKEN))?.token, TOKEN)
    assert.equal(tokens.inBearer(encodeURIComponent(signed(TOKEN)))?.token, TOKEN)
    assert.equal(tokens.inBearer(signed(TOKEN, 'another secret')), undefined)
    assert.equal(tokens.inBearer(`${TOKEN}.`), undefined)
  })
})
