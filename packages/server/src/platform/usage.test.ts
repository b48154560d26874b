import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerTo } from './usage.ts'
import { VERSION } from './version.ts'

describe('the arguments of the server', () => {
  it('are none', () => assert.equal(answerTo([]), undefined))

  it('may ask for the version, which is a line', () => {
    assert.match(VERSION, /^\d+\.\d+\.\d+$/)
    for (const asked of ['--version', '-v'])
      assert.deepEqual(answerTo([asked]), { text: `${VERSION}\n`, isWrong: false })
  })

  it('may ask for help, which names the first settings and their defaults', () => {
    const { text = '', isWrong } = answerTo(['--help']) ?? {}
    assert.equal(isWrong, false)
    assert.match(text, /^Trellis \d/)
    assert.match(text, /TRELLIS_LISTEN \(127\.0\.0\.1:8787\)\n {6}Address and port/)
    assert.match(text, /docs\/configuration\.md/)
  })

  it('are refused otherwise, so that nobody takes a setting for given', () => {
    for (const args of [['--port', '80'], ['start'], ['--version', 'now']])
      assert.match(answerTo(args)?.text ?? '', /takes no arguments but --help and --version: .*environment/)
  })
})
