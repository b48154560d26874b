import type { WorkflowContext } from '@trellis/extension'

interface Input {
  waitMs?: number
}

/**
 * Begins at the top whenever it goes on; steps that are done give what they gave. So everything that has an effect, or
 * may differ the next time, belongs into a step. A step may be done twice when a server dies over it.
 */
export default async function (
  { waitMs = 1000 }: Input,
  { run, step, events }: WorkflowContext<'events:emit'>,
) {
  const began = await step.do('begin', { retries: 3, delayMs: 1000, backoff: 'exponential' }, async () => {
    await events.emit('workflow.begun', { subject: run.id })
    return Date.now()
  })
  // While it waits it is a row in the database, for seconds or months.
  await step.sleep('rest', waitMs)
  return { began, ended: Date.now() }
}
