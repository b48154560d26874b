import assert from 'node:assert/strict'
import { type Host, packFiles } from './host.ts'

/** Everything that a push leaves behind. */
export const stored = async (host: Host, name: string) => ({
  refs: await host.refs(name),
  packs: (await host.packs(name)).toSorted(),
  files: (await packFiles(host.app.data)).toSorted(),
  events: (await host.events(name)).length,
})

/** Nothing that `work` does leaves a trace in `target`, and afterwards the repository is served as before. */
export async function leavesNothing(host: Host, work: () => Promise<void>): Promise<void> {
  const earlier = await stored(host, 'target')
  await work()
  assert.deepEqual(await stored(host, 'target'), earlier)
  const clone = await host.clone('target')
  assert.equal(await clone.rev('HEAD'), earlier.refs['refs/heads/main'])
}
