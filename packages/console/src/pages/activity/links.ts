import { linkOptions } from '@tanstack/react-router'
import type { NumberedEvent } from '@trellis/contract'

/** The page of what an event is about; undefined when there is none, or it is gone. */
export function aboutOf({ type, subject = '' }: NumberedEvent, org: string, repo: string | undefined) {
  if (type === 'repo.forked') {
    const [owner = '', fork = ''] = subject.split('/')
    return linkOptions({ to: '/o/$org/$repo', params: { org: owner, repo: fork } })
  }
  if (!repo) return undefined
  const [kind] = type.split('.')
  const here = { org, repo }
  if (kind === 'record' && type !== 'record.deleted') {
    const [record = '', id = ''] = subject.split('/')
    return linkOptions({ to: '/o/$org/$repo/records/$record/$id', params: { ...here, record, id } })
  }
  if (kind === 'webhook' && type !== 'webhook.deleted')
    return linkOptions({ to: '/o/$org/$repo/webhooks/$webhook', params: { ...here, webhook: subject } })
  return undefined
}
