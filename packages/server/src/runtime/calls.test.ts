import assert from 'node:assert/strict'
import { it } from 'node:test'
import { answerCall } from './calls.ts'

it('what was not granted is not even asked for, and a run that may not be is rejected', async () => {
  const never = async () => assert.fail('it was asked for')
  const refused = async (method: string) => {
    const answer = await answerCall({ capabilities: ['repo:read'] }, method, never)
    assert.ok('error' in answer)
    return [answer.error.code, answer.error.data]
  }
  assert.deepEqual(await refused('runs.dispatch'), ['RUN_REJECTED', { reason: 'capability_missing' }])
  assert.deepEqual(await refused('repo.commit'), ['FORBIDDEN', null])
  assert.deepEqual(await refused('step.begin'), ['FORBIDDEN', null])
  const answer = await answerCall({ capabilities: ['repo:read'] }, 'repo.list', async () => [])
  assert.deepEqual(answer, { value: [] })
})
