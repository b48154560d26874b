import assert from 'node:assert/strict'
import { it } from 'node:test'
import { findConfinement } from './confinement.ts'

it('workerd that does not start is found out, and why', async () => {
  const found = await findConfinement('/nowhere/workerd')
  assert.ok('reason' in found)
  assert.match(found.reason, /^workerd does not start here \(.*ENOENT.*\)\. It needs/)
  const works = await findConfinement()
  assert.ok('workerd' in works)
})
