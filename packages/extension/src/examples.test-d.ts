// Held against the types by the compiler, and never run.

import type {
  Context,
  ContextError,
  Module,
  Payload,
  Push,
  RecordTrigger,
  TriggerEvent,
  Wake,
  WorkflowContext,
  WorkflowModule,
} from '@trellis/extension'

export async function granted(
  input: { path: string },
  ctx: Context<'repo:read' | 'records:write' | 'net:api.example.com' | 'secret:API_TOKEN'>,
) {
  ctx.log('reading', { path: input.path })
  const text = await ctx.repo.readText(input.path)
  const row = await ctx.records.create('task', { title: text ?? '' })
  await ctx.fetch('https://api.example.com/', {
    signal: ctx.signal,
    headers: { token: ctx.secrets.API_TOKEN ?? '' },
  })
  // @ts-expect-error: to write was not asked for
  await ctx.repo.commit({ branch: 'main', message: 'x', changes: [] })
  // @ts-expect-error: nor to read records
  await ctx.records.list('task')
  // @ts-expect-error: this secret neither
  ctx.secrets.OTHER
  return row.data.title
}

export function onBranches(_input: unknown, ctx: Context) {
  // @ts-expect-error: it may be absent
  ctx.repo.branches()
  return ctx.repo?.branches()
}

export async function workflow(_input: Wake, ctx: WorkflowContext) {
  const answer = await ctx.step.do('ask', { retries: 3, backoff: 'exponential' }, () => 42)
  await ctx.step.sleep('rest', 1000)
  const event = await ctx.step.waitForEvent('wait', { type: 'task.done', timeoutMs: 1000 })
  return [answer, event?.id ?? null]
}

export const onRecord = ({ row, before }: RecordTrigger<{ status: string }>) =>
  row.data.status !== before?.status

export const payload: Payload = ({ type, subject, repo, scope }) => ({
  text: `${type} ${subject ?? ''} in ${repo.owner}/${repo.name}, ${scope}`,
})
export const asText: Payload = async (event) => JSON.stringify(event.payload)

export const onPush: Module<Push, unknown, 'repo:read'> = async ({ before, after, paths = [] }, ctx) =>
  before && after ? (await ctx.repo.compare(before, after)).files.length : paths.length

export const onEvent: Module<TriggerEvent, unknown, 'runs:dispatch' | 'events:emit'> = async (event, ctx) => {
  const run = await ctx.runs.dispatch('other', { id: event.id, depth: event.cause?.depth ?? 0 })
  await ctx.events.emit('other.asked', { subject: run.id, payload: { status: run.status } })
}

/** Everything there is to call, once. */
export const everything: WorkflowModule<
  Wake,
  unknown,
  'repo:read' | 'repo:write' | 'records:read' | 'records:write'
> = async (_input, { run, repo, records, step, signal, log }) => {
  const [file] = await repo.list('docs', { ref: 'main', recursive: true })
  const bytes = await repo.readBytes(file?.path ?? '', { ref: run.ref })
  const [branch] = await repo.branches()
  const [newest] = await repo.commits({ path: 'docs', limit: 1 })
  await repo.createBranch('topic', branch?.oid ?? newest?.oid ?? '')
  const change = { op: 'put', path: 'a', content: '' } as const
  const { oid } = await repo.commit({ branch: 'topic', message: 'x', changes: [change], expectedHead: null })
  const { outcome } = await repo.merge({ into: 'main', from: 'topic' })
  await repo.createTag('v1', oid, { message: outcome })
  await repo.deleteBranch('topic')
  const { rows, cursor } = await records.list<{ title: string }>('task', { where: { title: 'x' }, limit: 1 })
  const row = await records.get<{ title: string }>('task', rows[0]?.id ?? '')
  const { revision } = await records
    .update<{ title: string }>('task', row.id, { revision: row.revision, data: { title: 'y' } })
    .catch((error: ContextError) => ({ revision: error.code === 'RECORD_REVISION_CONFLICT' ? 1 : 0 }))
  await records.delete('task', row.id, { revision })
  await step.sleepUntil('later', Date.now() + 1000)
  signal.throwIfAborted()
  log('done', { bytes: bytes?.length ?? 0, cursor, tags: (await repo.tags()).length })
}
