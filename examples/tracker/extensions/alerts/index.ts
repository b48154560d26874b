import type { Context, TriggerEvent } from '@trellis/extension'

const CHAT = 'https://chat.example.com/api/messages'

export default async function (
  event: TriggerEvent,
  ctx: Context<'net:chat.example.com' | 'secret:CHAT_TOKEN'>,
) {
  const text = `${ctx.run.repo.owner}/${ctx.run.repo.name}: ${inWords(event)}`
  const token = ctx.secrets.CHAT_TOKEN
  if (token === undefined) {
    ctx.log(text)
    return { posted: false }
  }
  const response = await ctx.fetch(CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
    signal: ctx.signal,
  })
  if (!response.ok) throw new Error(`The chat answered ${response.status}`)
  return { posted: true }
}

function inWords({ type, subject, payload }: TriggerEvent): string {
  const { title, assignee, ref, problems, version } = (payload ?? {}) as Record<string, unknown>
  if (type === 'task.overdue') return `"${title}" is overdue (${assignee ?? 'nobody has it'})`
  if (type === 'check.failed') return `${problems} problems on ${ref}`
  if (type === 'release.published') return `${version} is out`
  return `${type} ${subject ?? ''}`
}
