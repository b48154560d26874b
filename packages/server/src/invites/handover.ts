import type { AccessScope } from '@trellis/contract'

/** The remote with the token in it: all a git client needs. */
export function cloneUrl(remote: string, token: string): string {
  const url = new URL(remote)
  url.username = 'token'
  url.password = token
  return url.href
}

export const cloneCommand = (url: string, repo: string): string => `git clone ${url} ${repo}`

/** Tells a coding agent in plain words what it has been given. */
export function promptFor({
  repo,
  scope,
  url,
  expiresAt,
}: {
  repo: string
  scope: AccessScope
  url: string
  expiresAt: string
}): string {
  const may = scope === 'write' ? 'you may read it and push to it' : 'you may read it; you may not push to it'
  const steps = [
    `Clone it: git clone ${url} ${repo}`,
    `Work inside the directory ${repo}.`,
    ...(scope === 'write'
      ? [
          'Commit what you change: git add -A && git commit -m "<what and why>"',
          'Push it: git push origin HEAD',
          'If the push is refused because the branch has moved, run git pull --rebase and push again.',
        ]
      : []),
  ]
  return [
    `You have been given access to the git repository "${repo}". Until ${expiresAt} (UTC) ${may}.`,
    'The URL below contains a secret: use it with git only, and do not print, commit or share it.',
    '',
    ...steps.map((step, i) => `${i + 1}. ${step}`),
    '',
    'After that time git will be refused with 401. Ask whoever invited you for a new link.',
  ].join('\n')
}
