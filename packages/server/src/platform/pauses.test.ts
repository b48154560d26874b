import assert from 'node:assert/strict'
import { it } from 'node:test'
import { countTurns } from '../testing/turns.ts'
import { createPauses, createPausesInTransaction, type Pause } from './pauses.ts'

const STEP_MS = 1

function step(): void {
  for (const until = performance.now() + STEP_MS; performance.now() < until; );
}

async function work(pause: Pause, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) {
    await pause()
    step()
  }
}

for (const create of [createPauses, createPausesInTransaction])
  it(`${create.name}: lets others in between the steps of something long`, async () => {
    using turns = countTurns()
    await work(create(), 20)
    assert.ok(turns.count >= 5, `${turns.count} turns`)
  })

it('goes on at once where little has been done', async () => {
  using turns = countTurns()
  const pause = createPauses()
  for (let i = 0; i < 20; i++) await pause()
  assert.ok(turns.count <= 1, `${turns.count} turns`)
})

it('does not count what somebody waits for', async () => {
  const pause = createPauses()
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, 20)
  await promise
  using turns = countTurns()
  await pause()
  assert.equal(turns.count, 0)
})

it('has many who are at something long go on in several turns', async () => {
  using turns = countTurns()
  const many = Array.from({ length: 24 }, () => work(createPauses(), 6))
  await Promise.all(many)
  // All of them with every turn would be done after six.
  assert.ok(turns.count >= 12, `${turns.count} turns`)
})

it('has a transaction go on before all of them', async () => {
  const order: string[] = []
  const done = (name: string) => () => order.push(name)
  const many = Array.from({ length: 24 }, () => work(createPauses(), 6).then(done('many')))
  await Promise.all([...many, work(createPausesInTransaction(), 6).then(done('transaction'))])
  assert.ok(order.indexOf('transaction') < 4, order.join())
})
