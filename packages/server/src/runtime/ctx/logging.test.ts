import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogLine } from '../runtime.ts'
import { createBlank } from './blanking.ts'
import { boundedLog, consoleFor, lineOf } from './logging.ts'

function spoken(speak: (say: (line: LogLine) => void) => void, bounds = {}): LogLine[] {
  const lines: LogLine[] = []
  const all = { lines: 3, characters: 1000, lineCharacters: 50, ...bounds }
  speak(boundedLog(all, createBlank(['0123456789']), (line) => lines.push(line)))
  return lines
}

describe('the lines of a run', () => {
  it('have the level of the method, and say what they were given', () => {
    const lines = spoken((say) => {
      const console = consoleFor(say)
      console.log('one', 2, { three: [3] }, null, undefined, Symbol('four'))
      console.warn(new RangeError('five'))
      console.table('six')
    })
    assert.equal(lines[0]?.message, 'one 2 {"three":[3]} null undefined Symbol(four)')
    assert.match(lines[1]?.message ?? '', /^RangeError: five\n {4}at /)
    assert.deepEqual(
      lines.map(({ level }) => level),
      ['info', 'warn', 'info'],
    )
  })

  it('show what is more than JSON, and put it where they are told to', () => {
    const around: Record<string, unknown> = { map: new Map([['a', new Set([1])]]), none: undefined }
    around.self = around
    const deep = JSON.parse(`${'['.repeat(50)}${']'.repeat(50)}`)
    const wide = Array.from({ length: 20_000 }, () => 'x'.repeat(100))
    const lines = spoken(
      (say) => {
        const console = consoleFor(say)
        console.log(around, [new Date(0), /x/g, 10n, Uint8Array.of(1, 2)], 'text')
        console.log('%s is %d%% of %j (%i)', 'half', '50', { all: 1 }, 1.5, 'and more', '%s')
        console.log(deep, { wide })
        console.log('100%', 1)
      },
      { lines: 10, lineCharacters: 300, characters: 10_000 },
    )
    assert.deepEqual(
      lines.slice(0, 2).map(({ message }) => message),
      [
        '{"map":Map(1) {"a" => Set(1) {1}},"none":undefined,"self":[Circular]} ["1970-01-01T00:00:00.000Z",/x/g,10n,Uint8Array(2) [1,2]] text',
        'half is 50% of {"all":1} (1) and more %s',
      ],
    )
    assert.match(lines[2]?.message ?? '', /^\[{8}\[…\]{9} \{"wide":\["x{100}"/)
    assert.equal(lines[3]?.message, '100% 1')
  })

  it('are cut, and end with a line that says so', () => {
    const lines = spoken((say) => {
      for (let index = 0; index < 10; index++) say(lineOf('info', 'x'.repeat(60)))
    })
    assert.equal(lines.length, 4)
    assert.equal(lines[0]?.message, `${'x'.repeat(39)}… (21 more)`)
    assert.match(lines[3]?.message ?? '', /^The log ends here: a run may write 3 lines/)
    const again = spoken((say) => lines.slice(0, 1).map(say))
    assert.deepEqual(again, lines.slice(0, 1))
    const few = spoken((say) => [1, 2, 3].map(() => say(lineOf('info', 'x'.repeat(40)))), { characters: 60 })
    assert.equal(few.length, 2)
  })

  it('say nothing of a secret in which they are cut', () => {
    const failed = new Error(`${'x'.repeat(70_000)}0123456789`)
    const lines = spoken((say) => {
      say(lineOf('info', `${'x'.repeat(30)}0123456789${'x'.repeat(30)}`))
      say(lineOf('info', 'data', { a: `${'x'.repeat(35)}0123456789` }))
      consoleFor(say).log({ in: [failed] })
    })
    assert.ok(!JSON.stringify(lines).includes('01'), JSON.stringify(lines))
    assert.match(lines[0]?.message ?? '', /^x{30}\*\*\*/)
    // What it says of an error is no shorter than a line may be.
    const [whole] = spoken((say) => consoleFor(say).log(failed), { lineCharacters: 100_000, characters: 1e6 })
    assert.ok((whole?.message.length ?? 0) >= 64 * 1024)
  })

  it('survive what cannot be written', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const hostile = {
      get toJSON() {
        throw new Error('no')
      },
    }
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    const lines = spoken((say) => {
      say(lineOf('info', 'data', cycle))
      say(lineOf('info', 'data', { big: 'y'.repeat(100) }))
      consoleFor(say).error(hostile, revoked.proxy, 10n)
    })
    assert.match(String(lines[0]?.data), /TypeError: Converting circular/)
    assert.match(String(lines[1]?.data), /^\{"big":"y+… \(\d+ more\)$/)
    assert.equal(lines.length, 3)
    // Those who pass it on have the same bounds, and leave it as it is.
    assert.deepEqual(
      spoken((say) => lines.map(say)),
      lines,
    )
  })
})
