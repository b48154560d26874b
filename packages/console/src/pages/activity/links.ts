import { linkOptions } from '@tanstack/react-router'
import type { NumberedEvent } from '@trellis/contract'

type Told = Pick<NumberedEvent, 'type' | 'subject' | 'payload'>

/** The page of what an event is about; undefined when there is none, or it is gone. */
export function aboutOf(event: Told, org: string, repo: string | undefined) {
  if (event.type === 'repo.forked') {
    const [owner = '', fork = ''] = event.subject?.split('/') ?? []
    return linkOptions({ to: '/o/$org/$repo', params: { org: owner, repo: fork } })
  }
  return repo ? aboutInRepo(event, org, repo) : aboutInOrg(event, org)
}

function aboutInRepo({ type, subject = '', payload }: Told, org: string, repo: string) {
  const here = { org, repo }
  const told = (payload ?? {}) as { before?: string; after?: string; oid?: string }
  const [kind] = type.split('.')
  if (type.endsWith('.deleted') || type === 'repo.purged') return undefined
  switch (kind) {
    case 'git':
      return aboutOfGit(told, here)
    case 'run':
      // A rejected one never came into being.
      return subject.startsWith('run_') ? runLink(org, repo, subject) : undefined
    case 'record': {
      const [record = '', id = ''] = subject.split('/')
      return linkOptions({ to: '/o/$org/$repo/records/$record/$id', params: { ...here, record, id } })
    }
    case 'webhook':
      return linkOptions({ to: '/o/$org/$repo/webhooks/$webhook', params: { ...here, webhook: subject } })
    case 'extension':
      return linkOptions({ to: '/o/$org/$repo/extensions', params: here })
    case 'daemon':
      return linkOptions({ to: '/o/$org/$repo/daemons', params: here })
    case 'token':
    case 'invite':
      return linkOptions({ to: '/o/$org/$repo/access', params: here })
    default:
      return undefined
  }
}

/** What a push changed: from what was there to what came, or the commit where nothing was. */
function aboutOfGit(
  { before, after, oid }: { before?: string; after?: string; oid?: string },
  here: { org: string; repo: string },
) {
  if (before && after)
    return linkOptions({ to: '/o/$org/$repo/compare/$', params: { ...here, _splat: `${before}...${after}` } })
  const commit = after ?? oid
  return commit
    ? linkOptions({ to: '/o/$org/$repo/commit/$oid', params: { ...here, oid: commit } })
    : undefined
}

function aboutInOrg({ type, subject = '' }: Told, org: string) {
  const [kind] = type.split('.')
  if (kind === 'member' || kind === 'invitation')
    return linkOptions({ to: '/o/$org/~/people', params: { org } })
  if (kind === 'agent') return linkOptions({ to: '/o/$org/~/agents', params: { org } })
  if (type === 'org.updated') return linkOptions({ to: '/o/$org/~/settings', params: { org } })
  if (type === 'repo.import.progress')
    return linkOptions({ to: '/o/$org/$repo', params: { org, repo: subject } })
  return undefined
}

export const runLink = (org: string, repo: string, id: string) =>
  linkOptions({ to: '/o/$org/$repo/runs/$id', params: { org, repo, id } })
