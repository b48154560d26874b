import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isUnreachable } from '../db/postgres/unavailable.ts'
import { isOutage, OutOfSpace, outOfSpaceIn } from './outages.ts'

const coded = (code: string, message = code) => Object.assign(new Error(message), { code })

describe('what is told as a full disk', () => {
  it('is what the system says, on whichever level, and nothing else', () => {
    for (const code of ['ENOSPC', 'EDQUOT']) {
      assert.ok(outOfSpaceIn(coded(code)) instanceof OutOfSpace)
      assert.ok(isOutage(new Error('adopting failed', { cause: coded(code) })))
    }
    for (const other of [coded('EACCES'), new Error('No space left on device'), 'ENOSPC', undefined])
      assert.equal(outOfSpaceIn(other), undefined)
  })
})

describe('what is told as a database that is away', () => {
  it('is what keeps us from asking it, not what it answers', () => {
    const codes = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', '57P01', '57P03', '53300', '08006']
    const away: Error[] = codes.map((code) => coded(code))
    away.push(
      new Error('Connection terminated unexpectedly'),
      new Error('timeout exceeded when trying to connect'),
      new Error('Client has encountered a connection error and is not queryable'),
      new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]),
    )
    for (const error of away) assert.ok(isUnreachable(error), error.message)
    for (const code of ['23505', '42P01', '40001', '28P01', '3D000', 'EACCES'])
      assert.ok(!isUnreachable(coded(code)), code)
  })
})
