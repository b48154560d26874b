import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { onEachDatabase, useRuns } from '../testing/index.ts'

onEachDatabase('the journal of a workflow', (create) => {
  const world = useRuns(create)

  before(async () => {
    await world.repo('flows', {
      together: {
        declares: { runtime: 'workflow' },
        does: `
          const steps = Array.from({ length: 6 }, (_, index) => ({ index, name: 'step ' + index }))
          for (const step of steps) await ctx.step.begin({ ...step, kind: 'do', options: {} })
          const ends = await Promise.all(steps.map((step) => ctx.step.end({ ...step, attempt: 1 })))
          return ends.map(({ order }: any) => order)`,
      },
    })
  })

  it('gives each of the steps that end at once a place of its own', async () => {
    const run = await world.run('flows', 'together')
    assert.equal(run.error, null)
    assert.deepEqual((run.output as number[]).toSorted(), [1, 2, 3, 4, 5, 6])
  })
})
